import type { StopCause } from '@svc/protocol/container-events'
import type { Settings } from '../../config/settings.ts'
import { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import { Background } from '../../kernel/background.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { ContainerEvents } from '../container-events/container-events.ts'
import { effectiveLimits } from '../workspaces/effective-settings.ts'
import type { HealthCheck, Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { Admission } from './admission.ts'
import { AgentWatch } from './agent-watch.ts'
import { ContainerStarter, type ReadyAgent, type StarterParts } from './container-starter.ts'
import { Containers } from './containers.ts'
import { CrashRestarts } from './crash-restarts.ts'
import { Deaths } from './deaths.ts'
import { Drain } from './drain.ts'
import { HealthChecks, type HealthReport } from './health-checks.ts'
import { KeyedLock } from './keyed-lock.ts'
import { type LifecycleNews, reasonFor, type StartRequest, type StopRequest, SYSTEM } from './lifecycle-news.ts'
import { type AvailableMemory, availableMemory } from './memory-available.ts'
import { PendingStarts, type StartResult } from './pending-starts.ts'
import type { RunningContainer, RunningWorkspace } from './running-container.ts'
import { startError } from './start-error.ts'
import { StartStages } from './start-stages.ts'
import { StockTaking } from './stock-taking.ts'
import { TokenRenewals } from './token-renewals.ts'
import { UnusedWorkspaces } from './unused-workspaces.ts'
import { Upkeep } from './upkeep.ts'
import { STOPPED, type WorkspaceStatus } from './workspace-status.ts'

export interface LifecycleParts extends Omit<StarterParts, 'settings'> {
  readonly workspaces: Pick<
    Workspaces,
    'find' | 'require' | 'noteContainer' | 'startedWith' | 'withContainer' | 'toAutoStart' | 'changed'
  >
  readonly events: ContainerEvents
  readonly settings: () => Pick<Settings, 'containers' | 'capacity' | 'hosting' | 'egress' | 'branding' | 'audit'>
  /** Whether somebody is connected to the workspace: then memory pressure does not stop it. */
  readonly hasClients: (workspaceId: string) => boolean
  readonly log: Logger
  /** From 0 to 1; nothing secret depends on it. */
  readonly random: () => number
  /** For tests: a machine cannot be filled up. */
  readonly measureMemory?: () => Promise<AvailableMemory | undefined>
}

type Gate = 'open' | 'draining' | 'ended'

/**
 * Starts and stops workspaces: the only caller of the engine's `run` and `remove`. Each workspace has one lock, so what
 * happens to it happens one after the other, and always for a cause.
 */
export class Lifecycle {
  readonly news = new Announcer<LifecycleNews>()
  readonly stages: StartStages
  readonly #parts: LifecycleParts
  readonly #locks = new KeyedLock()
  readonly #starts = new PendingStarts()
  readonly #end = new AbortController()
  readonly #background: Background
  readonly #containers: Containers
  readonly #admission: Admission
  readonly #restarts: CrashRestarts
  readonly #deaths: Deaths
  readonly #health: HealthChecks
  readonly #unused: UnusedWorkspaces
  readonly #agents: AgentWatch
  readonly #renewals: TokenRenewals
  readonly #upkeep: Upkeep
  readonly #drain: Drain
  #gate: Gate = 'open'

  constructor(parts: LifecycleParts) {
    this.#parts = parts
    const { engine, workspaces, settings, hasClients, clock, log, random } = parts
    this.stages = new StartStages(clock)
    const { signal } = this.#end
    const locks = this.#locks
    const measure = parts.measureMemory ?? (() => availableMemory())
    const announce = (news: LifecycleNews) => this.news.announce(news)
    const stopNow = (id: string, by: StopRequest) => this.#stopNow(id, by)
    const starter = new ContainerStarter(parts)
    const background = new Background(log)
    const containers = new Containers({
      ...parts,
      starter,
      failClosed: () => settings().audit.failClosed,
      onUp: (container, ready) => this.#up(container, ready),
      onStopping: (container, cause, message) => this.#stopping(container, cause, message),
      onRunsOn: (container) => this.#runsOn(container),
      onDown: (container) => this.#down(container),
    })
    this.#background = background
    this.#containers = containers
    this.#admission = new Admission({
      settings: () => settings().capacity,
      measure,
      running: () => containers.all(),
      workspaces,
      log,
    })
    this.#restarts = new CrashRestarts({
      policy: () => restartPolicy(settings().containers),
      start: (id) => this.start(id, { cause: 'crash_restart', actor: SYSTEM }),
      isOpen: () => this.#gate === 'open',
      clock,
      log,
    })
    const restarts = this.#restarts
    this.#deaths = new Deaths({
      engine,
      containers,
      locks,
      restarts,
      stopNow,
      announce,
      background,
      signal,
      clock,
    })
    this.#health = new HealthChecks({
      checkOf: async (id) => checkOf(await workspaces.find(id)),
      settings: () => settings().containers,
      announce: (workspaceId, news) => announce({ kind: 'health', workspaceId, ...news }),
      clock,
      log,
      random,
    })
    this.#unused = new UnusedWorkspaces({
      containers,
      locks,
      settings,
      measure,
      hasClients,
      stopIf: (id, by, isStillWanted) => this.#stopIf(id, by, isStillWanted),
      background,
      clock,
      log,
    })
    this.#agents = new AgentWatch({
      engine,
      connect: (containerId, until) => starter.connect(containerId, until),
      onReconnected: ({ workspaceId }) => announce({ kind: 'reconnected', workspaceId }),
      onLost: (container, death) => this.#deaths.lookAfter(container, death),
      clock,
    })
    this.#renewals = new TokenRenewals(parts)
    const starts = this.#starts
    this.#drain = new Drain({
      engine,
      containers,
      starts,
      locks,
      stop: (id, by) => this.stop(id, by),
      stopNow,
      clock,
      log,
    })
    const stock = new StockTaking({
      engine,
      containers,
      workspaces,
      locks,
      adopt: (workspace) => containers.adopt(workspace, signal),
      onOver: (container) => this.#deaths.over(container),
      onAgentAway: (container) => void this.#agents.seek(container),
      log,
    })
    this.#upkeep = new Upkeep({
      stock,
      workspaces,
      mayAutoStart: () => settings().containers.allowAutostart,
      start: (id) => this.start(id, { cause: 'auto_start', actor: SYSTEM }),
      background,
      signal,
      clock,
      log,
      random,
    })
  }

  /** Resolves when the workspace can be used. A start that is under way is joined. */
  start(workspaceId: string, by: StartRequest): Promise<StartResult> {
    if (by.cause !== 'crash_restart') this.#restarts.clear(workspaceId)
    return this.#starts.begin(workspaceId, (signal) =>
      this.#locks
        .run(workspaceId, () => this.#startNow(workspaceId, by, signal))
        .catch((error: unknown) => Promise.reject(startError(error))),
    )
  }

  /** Ends a start that is under way. Stopping what does not run is not an error. */
  async stop(workspaceId: string, by: StopRequest): Promise<void> {
    await this.#stopIf(workspaceId, by, () => true)
  }

  /** Stops it, and starts it again only if it is one that always runs. */
  async restart(workspaceId: string, by: Omit<StartRequest, 'cause'>): Promise<void> {
    this.#requireOpen()
    await this.stop(workspaceId, { cause: 'restart', actor: by.actor })
    if (!this.#isAlwaysOn(await this.#parts.workspaces.require(workspaceId))) return
    await this.start(workspaceId, { ...by, cause: 'restart' })
  }

  /** Starts it in any case, after a stop if it runs. For those who are in it and want to stay. */
  async renew(workspaceId: string, by: Omit<StartRequest, 'cause'>): Promise<void> {
    this.#requireOpen()
    if (this.find(workspaceId)) await this.stop(workspaceId, { cause: 'restart', actor: by.actor })
    await this.start(workspaceId, { ...by, cause: 'restart' })
  }

  /** Stops it, then does `work` while nobody can start it: for deletion. `work` must not ask for the same workspace. */
  async stopForGood<T>(workspaceId: string, by: StopRequest, work: () => Promise<T>): Promise<T> {
    this.#starts.abort(workspaceId, stoppedMeanwhile())
    return this.#locks.run(workspaceId, async () => {
      await this.#stopNow(workspaceId, by)
      return work()
    })
  }

  find(workspaceId: string): RunningWorkspace | undefined {
    const container = this.#containers.find(workspaceId)
    return container?.state === 'running' ? container : undefined
  }

  requireRunning(workspaceId: string): RunningWorkspace {
    const running = this.find(workspaceId)
    if (!running) throw new AppError('container_not_running', 'Container not running')
    return running
  }

  status({ id }: Pick<Workspace, 'id'>): WorkspaceStatus {
    const restart = this.#restarts.find(id)
    const container = this.#containers.find(id)
    if (container?.state !== 'running') return { ...STOPPED, restart }
    const { containerId, lastActivityMs, facts } = container
    const health = this.#health.find(id)
    return {
      running: true,
      containerId,
      healthy: health?.healthy ?? null,
      healthMessage: health?.message ?? null,
      healthCheckedAt: health?.checkedAt ?? null,
      idleSeconds: (this.#parts.clock.nowMs() - lastActivityMs) / 1000,
      idleTimeoutSeconds: this.#unused.timeoutOf(container),
      ports: facts.ports,
      restart,
      network: facts.network,
      serviceStartedAt: facts.serviceStartedAt,
    }
  }

  /** How the services do that were asked at least once, as of now. */
  health(): HealthReport[] {
    return this.#health.known()
  }

  /** Whether no health check is late. While one is, nobody knows how the services do. */
  get isHealthOnTime(): boolean {
    return this.#health.isOnTime
  }

  /** Takes up what runs, removes what is nobody's, and then looks after all of it. An engine that is away is waited for. */
  async begin(): Promise<void> {
    const { engine, workspaces } = this.#parts
    const { signal } = this.#end
    const listener = {
      died: ({ id, workspaceId }: { id: string; workspaceId: string }) => this.#deaths.heardOf(workspaceId, id),
      gap: () => this.#upkeep.lookSoon(),
    }
    engine.watch(listener, signal)
    const stopListening = workspaces.changed.subscribe(({ workspaceId }) => this.#health.recheck(workspaceId))
    signal.addEventListener('abort', stopListening)
    this.#unused.begin()
    await this.#upkeep.begin()
  }

  /** From now on; nothing that runs or is being started is stopped. */
  refuseStarts(): void {
    if (this.#gate === 'open') this.#gate = 'draining'
    this.#upkeep.endAutoStart()
    this.#restarts.drop()
  }

  /** Stops everything at once and lets nothing start meanwhile. Trouble is logged and holds up nobody. */
  async drain(cause: 'drain' | 'shutdown' = 'drain'): Promise<void> {
    this.refuseStarts()
    this.#starts.abortAll(closed())
    await this.#drain.run(cause)
  }

  /** After a drain or a refusal: workspaces may be started again, and those that come up with the server are. */
  resume(): void {
    if (this.#gate !== 'draining') return
    this.#gate = 'open'
    this.#upkeep.beginAutoStart()
  }

  /** Lets go of everything. Containers that were not drained run on. */
  async end(): Promise<void> {
    this.#gate = 'ended'
    this.#upkeep.endAutoStart()
    this.#starts.abortAll(closed())
    this.#restarts.drop()
    this.#end.abort(new Error('the server is ending'))
    this.#unused.end()
    this.#agents.end()
    await this.#starts.settled()
    await this.#background.settled()
    this.#containers.release()
    this.#health.end()
    this.#renewals.end()
  }

  async #startNow(workspaceId: string, by: StartRequest, signal: AbortSignal): Promise<StartResult> {
    const { workspaces, settings } = this.#parts
    signal.throwIfAborted()
    const workspace = await workspaces.require(workspaceId)
    if (await this.#isRunning(workspace, signal)) return 'already_running'
    this.#requireOpen()
    const { memoryBytes } = effectiveLimits(workspace, settings().containers)
    const { tell, end } = this.stages.begin(workspaceId)
    let release: (() => void) | undefined
    try {
      tell('admission')
      release = await this.#admission.admit(workspace, memoryBytes)
      const isPinned = by.cause !== 'api' && by.cause !== 'ws_connect' && this.#isAlwaysOn(workspace)
      await this.#containers.bringUp(workspace, by, { signal, tell, ...(isPinned ? { idleSeconds: 0 } : {}) })
    } finally {
      release?.()
      end()
    }
    const { serviceStartedAt } = this.status(workspace)
    this.news.announce({ kind: 'started', workspaceId, cause: by.cause, serviceStartedAt })
    return 'started'
  }

  /** Also takes up a container that runs, and clears one away that does not. */
  async #isRunning(workspace: Workspace, signal: AbortSignal): Promise<boolean> {
    const container = this.#containers.find(workspace.id)
    if (!container) return this.#containers.adopt(workspace, signal)
    const state = await this.#parts.engine.inspect(container.containerId)
    if (!state?.running) await this.#deaths.foundOver(container, state)
    else container.keep()
    return state?.running === true
  }

  /** One that comes up with the server does not go down because nobody uses it. */
  #isAlwaysOn({ autoStart }: Workspace): boolean {
    return autoStart && this.#parts.settings().containers.allowAutostart
  }

  /** `isStillWanted` is asked when nothing else can happen to the workspace any more. */
  async #stopIf(workspaceId: string, by: StopRequest, isStillWanted: () => boolean): Promise<void> {
    this.#starts.abort(workspaceId, stoppedMeanwhile())
    await this.#locks.run(workspaceId, async () => {
      if (isStillWanted()) await this.#stopNow(workspaceId, by)
    })
  }

  async #stopNow(workspaceId: string, by: StopRequest): Promise<void> {
    this.#restarts.clear(workspaceId)
    if (!(await this.#containers.tearDown(workspaceId, by))) return
    const { cause } = by
    this.news.announce({ kind: 'stopped', workspaceId, cause, reason: reasonFor(cause) })
  }

  #up(container: RunningContainer, { tokenExpiresAt }: ReadyAgent): void {
    this.#agents.watch(container)
    this.#renewals.begin(container, tokenExpiresAt)
    this.#watchHealth(container)
    this.#unused.added()
  }

  #watchHealth(container: RunningContainer): void {
    this.#health.watch({
      workspaceId: container.workspaceId,
      serviceStartedAt: container.facts.serviceStartedAt,
      checkHealth: (command, timeoutMs, options) => container.agent.checkHealth(command, timeoutMs, options),
    })
  }

  #runsOn(container: RunningContainer): void {
    const { workspaceId, facts } = container
    this.#watchHealth(container)
    this.#unused.added()
    // One that was lost while it stopped was not looked for.
    if (container.agent.lostBecause) void this.#agents.seek(container)
    const { serviceStartedAt } = facts
    this.news.announce({ kind: 'started', workspaceId, cause: 'stop_failed', serviceStartedAt })
  }

  #stopping({ workspaceId }: RunningContainer, cause: StopCause, message: string | null): void {
    const reason = reasonFor(cause)
    if (cause === 'eviction') this.news.announce({ kind: 'evicted', workspaceId, reason })
    this.news.announce({ kind: 'stopping', workspaceId, cause, reason })
    this.#health.finish(workspaceId, message)
  }

  #down({ workspaceId }: RunningContainer): void {
    this.#health.forget(workspaceId)
    this.#renewals.forget(workspaceId)
  }

  #requireOpen(): void {
    if (this.#gate !== 'open') throw closed()
  }
}

const closed = (): AppError =>
  new AppError('draining', 'The server is restarting or shutting down: no workspace can be started until that is over')

const stoppedMeanwhile = (): AppError => new AppError('conflict', 'The workspace was stopped while it was starting')

const checkOf = (workspace: Workspace | undefined): HealthCheck | null =>
  workspace?.setupState === 'complete' ? workspace.healthCheck : null

const restartPolicy = (settings: Settings['containers']) => ({
  enabled: settings.restartEnabled,
  maxRetries: settings.restartMaxRetries,
  backoffSeconds: settings.restartBackoffSeconds,
})
