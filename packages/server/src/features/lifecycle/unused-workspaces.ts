import type { Settings } from '../../config/settings.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Containers } from './containers.ts'
import { Evictor } from './eviction.ts'
import { IdleClock } from './idle-clock.ts'
import type { KeyedLock } from './keyed-lock.ts'
import { type StopRequest, SYSTEM } from './lifecycle-news.ts'
import type { AvailableMemory } from './memory-available.ts'
import type { RunningContainer } from './running-container.ts'

interface UnusedWorkspacesParts {
  readonly containers: Containers
  readonly locks: KeyedLock
  readonly settings: () => Pick<Settings, 'containers' | 'capacity'>
  readonly measure: () => Promise<AvailableMemory | undefined>
  readonly hasClients: (workspaceId: string) => boolean
  /** `isStillWanted` is asked when nothing else can happen to the workspace any more. */
  readonly stopIf: (workspaceId: string, by: StopRequest, isStillWanted: () => boolean) => Promise<void>
  readonly background: Background
  readonly clock: Clock
  readonly log: Logger
}

/** Stops workspaces that nobody uses: after a time, and sooner when memory is scarce. */
export class UnusedWorkspaces {
  readonly #parts: UnusedWorkspacesParts
  readonly #idle: IdleClock
  readonly #evictor: Evictor

  constructor(parts: UnusedWorkspacesParts) {
    this.#parts = parts
    const { measure, background, clock, log } = parts
    this.#idle = new IdleClock({ clock, subjects: () => this.#subjects(), onIdle: (id) => this.#stopIdle(id) })
    this.#evictor = new Evictor({
      settings: () => parts.settings().capacity,
      measure,
      candidates: () => this.#evictable(),
      evict: (id) => this.#evict(id),
      background,
      clock,
      log,
    })
  }

  begin(): void {
    this.#evictor.begin()
    this.#idle.look()
  }

  /** One more is running. */
  added(): void {
    this.#idle.look()
  }

  end(): void {
    this.#evictor.end()
    this.#idle.end()
  }

  /** Seconds; 0 for never. */
  timeoutOf({ facts }: RunningContainer): number {
    return facts.idleSeconds ?? this.#parts.settings().containers.idleTimeoutSeconds
  }

  #running(): RunningContainer[] {
    return this.#parts.containers.all().filter(({ state }) => state === 'running')
  }

  #subjects() {
    return this.#running().map((container) => ({
      workspaceId: container.workspaceId,
      lastActivityMs: () => container.lastActivityMs,
      timeoutSeconds: () => this.timeoutOf(container),
    }))
  }

  #isIdle(container: RunningContainer): boolean {
    const timeoutMs = this.timeoutOf(container) * 1000
    return timeoutMs > 0 && this.#parts.clock.nowMs() - container.lastActivityMs >= timeoutMs
  }

  #stopIdle(workspaceId: string): void {
    const { containers, locks, stopIf, background } = this.#parts
    const container = containers.find(workspaceId)
    if (!container || locks.isHeld(workspaceId)) return
    const isStillIdle = () => containers.find(workspaceId) === container && this.#isIdle(container)
    background.run('stopping an idle workspace', () =>
      stopIf(workspaceId, { cause: 'idle_timeout', actor: SYSTEM }, isStillIdle),
    )
  }

  #evictable(): RunningContainer[] {
    const { locks } = this.#parts
    return this.#running().filter((container) => !locks.isHeld(container.workspaceId) && this.#isDispensable(container))
  }

  #isDispensable(container: RunningContainer): boolean {
    return this.timeoutOf(container) > 0 && !this.#parts.hasClients(container.workspaceId)
  }

  async #evict(workspaceId: string): Promise<void> {
    const { containers, stopIf } = this.#parts
    const container = containers.find(workspaceId)
    if (!container) return
    const { lastActivityMs } = container
    const isStillUnused = () =>
      containers.find(workspaceId) === container &&
      container.lastActivityMs === lastActivityMs &&
      this.#isDispensable(container)
    await stopIf(workspaceId, { cause: 'eviction', actor: SYSTEM }, isStillUnused)
  }
}
