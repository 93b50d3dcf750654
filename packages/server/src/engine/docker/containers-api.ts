import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { pause } from '../../kernel/pause.ts'
import { type ContainerId, type ContainerSpec, type ContainerState, EngineError } from '../container-engine.ts'
import { CreatedAnswer, InspectAnswer, KILLED, ListAnswer, toState } from './answers.ts'
import { LABELS, onlyOurs } from './container-identity.ts'
import type { CreatePlan } from './create-plan.ts'
import type { ApiAnswer, ApiRequest, EngineApi } from './engine-api.ts'
import { kernelSaysOutOfMemory } from './kernel-oom.ts'
import { CONFLICT, isOk, messageOf, NOT_FOUND, refusal } from './refusal.ts'

/** The first container of an image may have to wait for its layers to be given to other ids. */
const CREATE_TIMEOUT_MS = 120_000
const CALL_TIMEOUT_MS = 30_000
/** A removal can meet the last moment of a stop, when something is still mounted; or another removal. */
const BUSY = /resource busy|already in progress|in use|improper|layer not known/i
const REMOVE_TRIES = 8
const REMOVE_RETRY_MS = 50

interface ContainersParts {
  readonly api: EngineApi
  readonly prefix: string
  /** How this engine is told what to make. */
  readonly createRequest: (plan: CreatePlan) => ApiRequest
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The calls about containers. Only `inspect` and `list` see whose one is: what changes one is for ids that they, or
 * `create`, have answered.
 */
export class ContainersApi {
  readonly #parts: ContainersParts

  constructor(parts: ContainersParts) {
    this.#parts = parts
  }

  /** Replaces one of the same name that is left from before. */
  async create(plan: CreatePlan): Promise<ContainerId> {
    const { api, createRequest } = this.#parts
    const request = { ...createRequest(plan), timeoutMs: CREATE_TIMEOUT_MS }
    let answer = await this.#orGone(plan, api.ask(request))
    if (isNameTaken(answer)) {
      const before = await this.inspect(plan.name)
      if (before?.workspaceId === plan.spec.workspaceId) {
        await this.remove(before.id)
        answer = await this.#orGone(plan, api.ask(request))
      }
    }
    if (!isOk(answer)) throw refusal(`make a container of ${plan.spec.image}`, answer, Object.values(plan.spec.env))
    return CreatedAnswer.parse(answer.body).Id
  }

  /** A call that was cut may have been heard: then there is a container that nobody knows the id of. */
  async #orGone(plan: CreatePlan, call: Promise<ApiAnswer>): Promise<ApiAnswer> {
    try {
      return await call
    } catch (error) {
      const made = await this.inspect(plan.name).catch(() => undefined)
      if (made?.workspaceId === plan.spec.workspaceId) await this.remove(made.id).catch(() => undefined)
      throw error
    }
  }

  async start(id: ContainerId, spec: ContainerSpec): Promise<void> {
    const answer = await this.#ask('POST', `${id}/start`, { timeoutMs: CREATE_TIMEOUT_MS, repeatable: true })
    if (!isOk(answer)) throw refusal(`start a container of ${spec.image}`, answer, Object.values(spec.env))
  }

  /** Before a removal by force, which meets again whatever this may meet, and must succeed. */
  async stop(id: ContainerId, graceSeconds: number): Promise<void> {
    const query = { t: String(Math.ceil(graceSeconds)) }
    const timeoutMs = graceSeconds * 1000 + CALL_TIMEOUT_MS
    const answer = await this.#ask('POST', `${id}/stop`, { query, timeoutMs, repeatable: true })
    if (isOk(answer) || answer.status === NOT_FOUND) return
    this.#parts.log.warning('a container did not stop by itself', { error: refusal('stop a container', answer) })
  }

  /** By force, and with the volumes that only this container knew. One that is gone is a success. */
  async remove(id: ContainerId): Promise<void> {
    const { clock } = this.#parts
    for (let tries = 1; ; tries++) {
      const answer = await this.#ask('DELETE', id, { query: { force: 'true', v: 'true' } })
      if (isOk(answer) || answer.status === NOT_FOUND) return
      if (tries === REMOVE_TRIES || !BUSY.test(messageOf(answer))) throw refusal('remove a container', answer)
      await pause(clock, REMOVE_RETRY_MS * tries)
    }
  }

  async inspect(idOrName: string): Promise<ContainerState | undefined> {
    const answer = await this.#ask('GET', `${idOrName}/json`)
    if (answer.status === NOT_FOUND) return undefined
    if (!isOk(answer)) throw refusal('look at a container', answer)
    const container = InspectAnswer.parse(answer.body)
    if (container.Config.Labels[LABELS.instance] !== this.#parts.instanceId) return undefined
    const state = toState(container)
    if (state.exitCode !== KILLED || state.outOfMemory) return state
    const endedMs = Date.parse(container.State.FinishedAt)
    return { ...state, outOfMemory: await kernelSaysOutOfMemory(state.id, endedMs, this.#parts.clock) }
  }

  /** Of its first process, on the host. */
  async requirePid(id: ContainerId): Promise<number> {
    const answer = await this.#ask('GET', `${id}/json`)
    const pid = isOk(answer) ? InspectAnswer.parse(answer.body).State.Pid : 0
    if (pid === 0) throw new EngineError('not_running', 'the container ended while it was being started')
    return pid
  }

  async list(): Promise<ContainerState[]> {
    const query = { all: 'true', filters: onlyOurs(this.#parts.instanceId) }
    const answer = await this.#ask('GET', 'json', { query })
    if (!isOk(answer)) throw refusal('list containers', answer)
    // The list does not say how one ended.
    const states = await Promise.all(ListAnswer.parse(answer.body).map(({ Id }) => this.inspect(Id)))
    return states.flatMap((state) => state ?? [])
  }

  /** The end of what the container's program wrote: an explanation of a failed start. */
  async lastWords(id: ContainerId): Promise<string> {
    const { api, prefix } = this.#parts
    const query = { stdout: 'true', stderr: 'true', tail: '20' }
    const path = `${prefix}/containers/${encodeURIComponent(id)}/logs`
    const bytes = await api.askBytes({ method: 'GET', path, query })
    // Eight bytes before each piece say which stream it is of; what is left of them here are control characters.
    return bytes
      .toString()
      .replaceAll(/[^\x20-\x7e\n]/g, '')
      .trim()
  }

  #ask(method: ApiRequest['method'], path: string, more: Partial<ApiRequest> = {}): Promise<ApiAnswer> {
    const [id, ...rest] = path.split('/')
    const safe = [encodeURIComponent(id ?? ''), ...rest].join('/')
    return this.#parts.api.ask({ method, path: `${this.#parts.prefix}/containers/${safe}`, ...more })
  }
}

/** Podman answers 500 to a name that is taken. */
function isNameTaken(answer: ApiAnswer): boolean {
  return answer.status === CONFLICT || (!isOk(answer) && /name .* is already in use/i.test(messageOf(answer)))
}
