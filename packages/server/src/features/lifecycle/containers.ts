import type { StartCause, StopCause } from '@svc/protocol/container-events'
import { AgentLost } from '../../agent/agent-error.ts'
import { type ContainerEngine, EngineError } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { ContainerEvents } from '../container-events/container-events.ts'
import type { HostedPorts } from '../ports/hosted-ports.ts'
import { effectiveLimits } from '../workspaces/effective-settings.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { chooseNetwork } from './container-network.ts'
import type { ContainerStarter, ReadyAgent, StarterSettings } from './container-starter.ts'
import { classifyDeath, type Death } from './death.ts'
import type { Actor } from './lifecycle-news.ts'
import { type ContainerFacts, RunningContainer } from './running-container.ts'
import { startError } from './start-error.ts'
import { Stopwatch } from './stopwatch.ts'

export const STOP_GRACE_SECONDS = 5
/** An agent that is up already answers at once. */
const ADOPT_MS = 15_000
/** A row that an operator wants before anything happens is written for what people ask for, not for what must happen. */
const ANSWERABLE: readonly (StartCause | StopCause)[] = ['api', 'create', 'stop', 'restart', 'delete']

export interface StartRequest {
  readonly cause: StartCause
  readonly actor: Actor
  /** Where the person who asked for it reaches the server. */
  readonly externalUrl?: string | undefined
}

export interface StopRequest {
  readonly cause: StopCause
  readonly actor: Actor
}

export interface ContainersParts {
  readonly engine: ContainerEngine
  readonly starter: ContainerStarter
  readonly workspaces: Pick<Workspaces, 'find' | 'noteContainer'>
  readonly ports: HostedPorts
  readonly events: ContainerEvents
  readonly settings: () => StarterSettings
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
    options: { signal: AbortSignal; idleSeconds?: number },
  ): Promise<void> {
    const { starter, events, clock, log } = this.#parts
    const { signal } = options
    const watch = new Stopwatch(clock)
    const isRecordedFirst = await this.#recordFirst('start', workspace.id, by, null)
    let made: { containerId: string; recorded: Promise<void> } | undefined
    try {
      const prepared = await starter.prepare(workspace, signal)
      watch.lap('prepare')
      signal.throwIfAborted()
      const { containerId, ports } = await starter.run(prepared, {
        signal,
        externalUrl: by.externalUrl,
        onCreated: (id) => this.#parts.workspaces.noteContainer(workspace.id, id),
      })
      watch.lap('run')
      const startedAt = clock.nowMs() / 1000
      // The row is written while the agent gets ready: the container exists, whatever becomes of it.
      const recorded = isRecordedFirst
        ? Promise.resolve()
        : events.record(this.#row('start', workspace.id, by, containerId))
      made = { containerId, recorded }
      const ready = await starter.makeReady(workspace, containerId, { signal, watch })
      await recorded
      signal.throwIfAborted()
      const facts = this.#facts(workspace, containerId, { startedAt, ports, idleSeconds: options.idleSeconds })
      this.#register(facts, ready)
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
  async adopt(workspace: Workspace, options: { signal: AbortSignal; idleSeconds?: number }): Promise<boolean> {
    const { engine, starter, ports, log } = this.#parts
    const { id, containerId } = workspace
    if (containerId === null) return false
    const state = await engine.inspect(containerId)
    if (state?.running) {
      try {
        const ready = await starter.makeReady(workspace, containerId, { signal: options.signal, withinMs: ADOPT_MS })
        const { asked } = chooseNetwork(workspace.egressMode, engine.supports)
        const published = asked === 'none' ? [] : await ports.find(id)
        const startedAt = state.startedAt ?? this.#parts.clock.nowMs() / 1000
        const { idleSeconds } = options
        this.#register(this.#facts(workspace, containerId, { startedAt, ports: published, idleSeconds }), ready)
        log.info('a workspace that was running was taken up', { workspace: id, container: containerId })
        return true
      } catch (error) {
        if (options.signal.aborted) throw options.signal.reason
        if (error instanceof EngineError && error.fault === 'unavailable') throw error
        log.warning('the agent of a running workspace does not answer', { workspace: id, error })
      }
    }
    await this.reap(id, containerId)
    return false
  }

  /** Removes a container that is nobody's, or no longer what its workspace needs. */
  async reap(workspaceId: string, containerId: string): Promise<void> {
    const { engine, workspaces, events } = this.#parts
    await engine.remove(containerId, { graceSeconds: STOP_GRACE_SECONDS })
    const workspace = await workspaces.find(workspaceId)
    if (workspace?.containerId === containerId) await workspaces.noteContainer(workspaceId, null)
    await events.record(this.#row('stop', workspaceId, { cause: 'reap', actor: { type: 'system' } }, containerId))
  }

  /** Stops and removes whatever runs for a workspace. Answers whether there was anything. */
  async tearDown(workspaceId: string, by: StopRequest): Promise<boolean> {
    const { engine, workspaces, events, onStopping, onRunsOn } = this.#parts
    const container = this.#byWorkspace.get(workspaceId)
    const containerId = container?.containerId ?? (await workspaces.find(workspaceId))?.containerId ?? null
    if (containerId === null) return false
    const isRecordedFirst = await this.#recordFirst('stop', workspaceId, by, containerId)
    container?.stopping()
    if (container) onStopping(container, by.cause, null)
    try {
      await engine.remove(containerId, { graceSeconds: STOP_GRACE_SECONDS })
    } catch (cause) {
      container?.runsOn()
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
    const { engine, events, onStopping, log } = this.#parts
    const { workspaceId, containerId } = container
    container.stopping()
    onStopping(container, 'crash_teardown', death.message)
    log.warning('a workspace ended by itself', { workspace: workspaceId, container: containerId, why: death.message })
    try {
      await engine.remove(containerId, { graceSeconds: STOP_GRACE_SECONDS })
    } catch (error) {
      log.error('an ended container could not be removed', { workspace: workspaceId, container: containerId, error })
    }
    this.#forget(container)
    await this.#noteGone(workspaceId)
    const by: StopRequest = { cause: 'crash_teardown', actor: { type: 'system' } }
    await events.record(this.#row('stop', workspaceId, by, containerId))
  }

  /** Lets go of the agents; the containers run on. */
  release(): void {
    for (const container of this.all()) this.#forget(container)
  }

  #register(facts: ContainerFacts, ready: ReadyAgent): void {
    const container = new RunningContainer(facts, ready.agent, this.#parts.clock)
    this.#byWorkspace.set(facts.workspaceId, container)
    this.#parts.onUp(container, ready)
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

  /** After a start that failed. */
  async #undo(
    workspace: Workspace,
    {
      made,
      isRecordedFirst,
    }: { made: { containerId: string; recorded: Promise<void> } | undefined; isRecordedFirst: boolean },
  ): Promise<void> {
    const { engine, workspaces, events, log } = this.#parts
    try {
      await made?.recorded
      if (made) await engine.remove(made.containerId, { graceSeconds: 0 })
      await workspaces.noteContainer(workspace.id, null)
    } catch (error) {
      log.error('what was left of a failed start could not be cleared away', { workspace: workspace.id, error })
    }
    if (!made && !isRecordedFirst) return
    const by: StopRequest = { cause: 'start_failed', actor: { type: 'system' } }
    await events.record(this.#row('stop', workspace.id, by, made?.containerId ?? null))
  }

  #facts(
    workspace: Workspace,
    containerId: string,
    given: { startedAt: number; ports: readonly number[]; idleSeconds: number | undefined },
  ): ContainerFacts {
    const { engine, settings, clock } = this.#parts
    const { mode, note } = chooseNetwork(workspace.egressMode, engine.supports)
    return {
      workspaceId: workspace.id,
      containerId,
      ownerId: workspace.ownerId,
      startedAt: given.startedAt,
      serviceStartedAt: clock.nowMs() / 1000,
      ports: given.ports,
      network: { mode, note },
      memoryLimitBytes: effectiveLimits(workspace, settings().containers).memoryBytes,
      idleSeconds: given.idleSeconds ?? workspace.settings?.idle_timeout,
    }
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
