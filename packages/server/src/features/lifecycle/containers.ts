import type { StartCause, StopCause } from '@svc/protocol/container-events'
import { AgentLost } from '../../agent/agent-error.ts'
import { type ContainerEngine, type ContainerState, EngineError } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { ContainerEvents } from '../container-events/container-events.ts'
import type { StartedWith } from '../workspaces/started-with.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { ContainerStarter, ReadyAgent } from './container-starter.ts'
import { classifyDeath, type Death } from './death.ts'
import { type StartRequest, type StopRequest, SYSTEM } from './lifecycle-news.ts'
import { RunningContainer } from './running-container.ts'
import { startError } from './start-error.ts'
import type { TellStage } from './start-stages.ts'
import { Stopwatch } from './stopwatch.ts'

export const STOP_GRACE_SECONDS = 5
/** An agent that is up already answers at once. */
const ADOPT_MS = 15_000
/** A row that an operator wants before anything happens is written for what people ask for, not for what must happen. */
const ANSWERABLE: readonly (StartCause | StopCause)[] = ['api', 'create', 'stop', 'restart', 'delete']

export interface ContainersParts {
  readonly engine: ContainerEngine
  readonly starter: ContainerStarter
  readonly workspaces: Pick<Workspaces, 'find' | 'noteContainer' | 'startedWith'>
  readonly events: ContainerEvents
  readonly failClosed: () => boolean
  /** A container has begun to count, and one counts no more. */
  readonly onUp: (container: RunningContainer, ready: ReadyAgent) => void
  readonly onStopping: (container: RunningContainer, cause: StopCause, message: string | null) => void
  /** It was said to stop, and the engine could not stop it. */
  readonly onRunsOn: (container: RunningContainer) => void
  readonly onDown: (container: RunningContainer) => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The containers that run, by their workspaces: how one comes up, is found again, and goes down. Whoever calls what
 * changes a workspace holds its lock.
 */
export class Containers {
  readonly #parts: ContainersParts
  readonly #byWorkspace = new Map<string, RunningContainer>()

  constructor(parts: ContainersParts) {
    this.#parts = parts
  }

  find(workspaceId: string): RunningContainer | undefined {
    return this.#byWorkspace.get(workspaceId)
  }

  all(): RunningContainer[] {
    return [...this.#byWorkspace.values()]
  }

  /** Makes a container. Whatever fails, nothing of it is left. */
  async bringUp(
    workspace: Workspace,
    by: StartRequest,
    options: { signal: AbortSignal; tell: TellStage; idleSeconds?: number },
  ): Promise<void> {
    const { starter, workspaces, events, clock, log } = this.#parts
    const { signal, tell } = options
    const watch = new Stopwatch(clock)
    const isRecordedFirst = await this.#recordFirst('start', workspace.id, by, null)
    let made: { containerId: string; recorded: Promise<void> } | undefined
    try {
      const prepared = await starter.prepare(workspace, { signal, tell })
      watch.lap('prepare')
      signal.throwIfAborted()
      const startedWith = (ports: readonly number[]): StartedWith => ({
        network: { mode: prepared.network.mode, note: prepared.network.note },
        ports,
        memoryLimitBytes: prepared.spec.limits.memoryBytes,
        idleSeconds: options.idleSeconds ?? workspace.settings?.idle_timeout,
      })
      tell('create')
      const { containerId, ports } = await starter.run(prepared, {
        signal,
        externalUrl: by.externalUrl,
        onCreated: async (id, published) => {
          await workspaces.noteContainer(workspace.id, id, startedWith(published))
          tell('start')
        },
      })
      watch.lap('run')
      const startedAt = clock.nowMs() / 1000
      // The row is written while the agent gets ready: the container exists, whatever becomes of it.
      const recorded = isRecordedFirst
        ? Promise.resolve()
        : events.record(this.#row('start', workspace.id, by, containerId))
      made = { containerId, recorded }
      tell('ready_wait')
      const ready = await starter.makeReady(workspace, containerId, { signal, watch })
      await recorded
      signal.throwIfAborted()
      this.#register(workspace, { containerId, startedAt, startedWith: startedWith(ports) }, ready)
      const details = { workspace: workspace.id, container: containerId, cause: by.cause, ms: watch.read() }
      log.info('a workspace was started', details)
    } catch (error) {
      const failure = startError(signal.aborted ? signal.reason : await this.#whyLost(error, made?.containerId))
      await this.#undo(workspace, { made, isRecordedFirst })
      const details = { workspace: workspace.id, cause: by.cause, code: failure.code, ms: watch.read() }
      log.warning('a workspace could not be started', { ...details, error: failure })
      throw failure
    }
  }

  /** Takes up the container a row speaks of, if it still runs and answers; removes it otherwise. */
  async adopt(workspace: Workspace, signal: AbortSignal): Promise<boolean> {
    const { engine, starter, workspaces, clock, log } = this.#parts
    const { id, containerId } = workspace
    if (containerId === null) return false
    const state = await engine.inspect(containerId)
    const startedWith = await workspaces.startedWith(id)
    if (state?.running && startedWith) {
      try {
        const ready = await starter.makeReady(workspace, containerId, { signal, withinMs: ADOPT_MS })
        const startedAt = state.startedAt ?? clock.nowMs() / 1000
        this.#register(workspace, { containerId, startedAt, startedWith }, ready)
        log.info('a workspace that was running was taken up', { workspace: id, container: containerId })
        return true
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (error instanceof EngineError && error.fault === 'unavailable') throw error
        log.warning('the agent of a running workspace does not answer', { workspace: id, error })
      }
    }
    await this.reap(id, containerId)
    return false
  }

  /** Removes a container that is nobody's, or no longer what its workspace needs. */
  async reap(workspaceId: string, containerId: string): Promise<void> {
    const { workspaces, events } = this.#parts
    if (await this.#end(containerId)) throw new EngineError('failed', 'a container that ended could not be removed')
    const workspace = await workspaces.find(workspaceId)
    if (workspace?.containerId === containerId) await workspaces.noteContainer(workspaceId, null)
    await events.record(this.#row('stop', workspaceId, { cause: 'reap', actor: SYSTEM }, containerId))
  }

  /** Stops and removes whatever runs for a workspace. Answers whether there was anything. */
  async tearDown(workspaceId: string, by: StopRequest): Promise<boolean> {
    const { workspaces, events, onStopping, onRunsOn } = this.#parts
    const container = this.#byWorkspace.get(workspaceId)
    const containerId = container?.containerId ?? (await workspaces.find(workspaceId))?.containerId ?? null
    if (containerId === null) return false
    const isRecordedFirst = await this.#recordFirst('stop', workspaceId, by, containerId)
    container?.stopping()
    if (container) onStopping(container, by.cause, null)
    try {
      await this.#end(containerId)
    } catch (cause) {
      container?.runsOn(by)
      if (container) onRunsOn(container)
      throw new AppError('unavailable', 'The container could not be stopped', { cause })
    }
    if (container) this.#forget(container)
    await this.#noteGone(workspaceId)
    if (!isRecordedFirst) await events.record(this.#row('stop', workspaceId, by, containerId))
    return true
  }

  /** Clears away a container that ended by itself. What the engine refuses to remove now is removed at the next look. */
  async bury(container: RunningContainer, death: Death): Promise<void> {
    const { events, onStopping, log } = this.#parts
    const { workspaceId, containerId } = container
    container.stopping()
    onStopping(container, 'crash_teardown', death.message)
    log.warning('a workspace ended by itself', { workspace: workspaceId, container: containerId, why: death.message })
    try {
      await this.#end(containerId)
    } catch (error) {
      log.error('an ended container could not be removed', { workspace: workspaceId, container: containerId, error })
    }
    this.#forget(container)
    await this.#noteGone(workspaceId)
    const by: StopRequest = { cause: 'crash_teardown', actor: SYSTEM }
    await events.record(this.#row('stop', workspaceId, by, containerId))
  }

  /** Lets go of the agents; the containers run on. */
  release(): void {
    for (const container of this.all()) this.#forget(container)
  }

  /**
   * Stops and removes. What an engine refuses is judged by what is left: one that runs on is a failure, and so is one of
   * which nobody can tell. One that ended is answered: it is removed at the next look.
   */
  async #end(containerId: string, graceSeconds = STOP_GRACE_SECONDS): Promise<ContainerState | undefined> {
    const { engine, log } = this.#parts
    try {
      await engine.remove(containerId, { graceSeconds })
      return undefined
    } catch (error) {
      const left = await engine.inspect(containerId)
      if (left?.running) throw error
      log.warning('the engine had trouble with removing a container', { container: containerId, isLeft: !!left, error })
      return left
    }
  }

  #register(
    { id: workspaceId, ownerId }: Workspace,
    given: { containerId: string; startedAt: number; startedWith: StartedWith },
    ready: ReadyAgent,
  ): void {
    const { clock, onUp } = this.#parts
    const { containerId, startedAt, startedWith } = given
    const serviceStartedAt = clock.nowMs() / 1000
    const facts = { ...startedWith, workspaceId, containerId, ownerId, startedAt, serviceStartedAt }
    const container = new RunningContainer(facts, ready.agent, clock)
    this.#byWorkspace.set(workspaceId, container)
    onUp(container, ready)
  }

  #forget(container: RunningContainer): void {
    container.stopping()
    this.#byWorkspace.delete(container.workspaceId)
    this.#parts.onDown(container)
    container.agent.close()
  }

  /** The container is gone whether or not it can be written down; what is not is put right at the next look. */
  async #noteGone(workspaceId: string): Promise<void> {
    try {
      await this.#parts.workspaces.noteContainer(workspaceId, null)
    } catch (error) {
      this.#parts.log.error('that a container is gone could not be written down', { workspace: workspaceId, error })
    }
  }

  /** An agent that is gone because its container is, is told as the end of the container. */
  async #whyLost(error: unknown, containerId: string | undefined): Promise<unknown> {
    if (containerId === undefined || !(error instanceof AgentLost)) return error
    const state = await this.#parts.engine.inspect(containerId).catch(() => undefined)
    if (state?.running !== false) return error
    const { message } = classifyDeath(state, undefined)
    return new AppError('start_failed', `${message}, before its agent was ready`, { cause: error })
  }

  /** After a start that failed. A container the engine does not let go is nobody's from now on, and the next look has it. */
  async #undo(
    workspace: Workspace,
    {
      made,
      isRecordedFirst,
    }: { made: { containerId: string; recorded: Promise<void> } | undefined; isRecordedFirst: boolean },
  ): Promise<void> {
    const { events, log } = this.#parts
    await made?.recorded
    try {
      if (made) await this.#end(made.containerId, 0)
    } catch (error) {
      log.error('the container of a failed start could not be removed', { workspace: workspace.id, error })
    }
    await this.#noteGone(workspace.id)
    if (!made && !isRecordedFirst) return
    const by: StopRequest = { cause: 'start_failed', actor: SYSTEM }
    await events.record(this.#row('stop', workspace.id, by, made?.containerId ?? null))
  }

  async #recordFirst(
    event: 'start' | 'stop',
    workspaceId: string,
    by: StartRequest | StopRequest,
    containerId: string | null,
  ): Promise<boolean> {
    if (!this.#parts.failClosed() || !ANSWERABLE.includes(by.cause)) return false
    await this.#parts.events.recordFirst(this.#row(event, workspaceId, by, containerId))
    return true
  }

  #row(event: 'start' | 'stop', workspaceId: string, by: StartRequest | StopRequest, containerId: string | null) {
    const actorId = by.actor.type === 'user' ? by.actor.id : null
    const { cause } = by
    return {
      workspaceId,
      event,
      actorId,
      cause,
      containerId,
      containerRole: 'workspace' as const,
      networkNamespace: null,
    }
  }
}
