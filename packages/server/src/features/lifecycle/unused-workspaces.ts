import type { Settings } from '../../config/settings.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Containers, StopRequest } from './containers.ts'
import { Evictor } from './eviction.ts'
import { IdleClock } from './idle-clock.ts'
import type { KeyedLock } from './keyed-lock.ts'
import { type LifecycleNews, reasonFor, SYSTEM } from './lifecycle-news.ts'
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
  readonly announce: (news: LifecycleNews) => void
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
    const { measure, clock, log } = parts
    this.#idle = new IdleClock({ clock, subjects: () => this.#subjects(), onIdle: (id) => this.#stopIdle(id) })
    this.#evictor = new Evictor({
      settings: () => parts.settings().capacity,
      measure,
      candidates: () => this.#evictable(),
      evict: (id) => this.#evict(id),
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
    const { locks, hasClients } = this.#parts
    return this.#running().filter(
      (container) =>
        !locks.isHeld(container.workspaceId) && this.timeoutOf(container) > 0 && !hasClients(container.workspaceId),
    )
  }

  async #evict(workspaceId: string): Promise<void> {
    const { stopIf, announce } = this.#parts
    announce({ kind: 'evicted', workspaceId, reason: reasonFor('eviction') })
    await stopIf(workspaceId, { cause: 'eviction', actor: SYSTEM }, () => true)
  }
}
