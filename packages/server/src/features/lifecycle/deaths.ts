import type { ContainerEngine, ContainerState } from '../../engine/container-engine.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import type { Containers } from './containers.ts'
import type { CrashRestarts } from './crash-restarts.ts'
import { classifyDeath, type Death, wasToldToEnd } from './death.ts'
import type { KeyedLock } from './keyed-lock.ts'
import type { LifecycleNews, RestartOutlook, StopRequest } from './lifecycle-news.ts'
import type { RunningContainer } from './running-container.ts'

/** What an engine takes from ending a container to having removed it. */
const REMOVAL_MS = 300

interface DeathsParts {
  readonly engine: Pick<ContainerEngine, 'inspect'>
  readonly containers: Containers
  readonly locks: KeyedLock
  readonly restarts: CrashRestarts
  /** For whoever holds the lock. */
  readonly stopNow: (workspaceId: string, by: StopRequest) => Promise<void>
  readonly announce: (news: LifecycleNews) => void
  readonly background: Background
  /** Aborted when the server ends: nothing that ends from then on is news. */
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** What follows when a container ends that nobody stopped. */
export class Deaths {
  readonly #parts: DeathsParts

  constructor(parts: DeathsParts) {
    this.#parts = parts
  }

  /** The engine says that one ended. */
  heardOf(workspaceId: string, containerId: string): void {
    const container = this.#parts.containers.find(workspaceId)
    if (container?.containerId === containerId && container.state === 'running') this.lookAfter(container)
  }

  /** Nobody waits for it. */
  lookAfter(container: RunningContainer, death?: Death): void {
    this.#parts.background.run('looking after a container that ended', () => this.over(container, death))
  }

  /** Without a death the engine is asked how it ended, and one that runs after all is left alone. */
  async over(container: RunningContainer, death?: Death): Promise<void> {
    const { containers, locks, restarts, stopNow, announce, signal } = this.#parts
    await locks.run(container.workspaceId, async () => {
      // Somebody stopped it on purpose while this waited for its turn.
      if (containers.find(container.workspaceId) !== container || signal.aborted) return
      const state = await this.#lastState(container.containerId)
      if (state?.running && !death) return
      const { workspaceId, unmetStop } = container
      if (unmetStop) return stopNow(workspaceId, unmetStop)
      const why = state?.running && death ? death : deathOf(container, state)
      await containers.bury(container, why)
      announce({ kind: 'died', workspaceId, ...why, restart: restarts.died(workspaceId, why.cause) })
    })
  }

  /** For a start that found it so, and holds the lock: nothing but that start will come of it. */
  async foundOver(container: RunningContainer, state: ContainerState | undefined): Promise<void> {
    const { containers, announce } = this.#parts
    const { workspaceId } = container
    const death = deathOf(container, state)
    await containers.bury(container, death)
    announce({ kind: 'died', workspaceId, ...death, restart: NO_RESTART })
  }

  /** Who removes a container from outside ends it first: one that was told to end is looked at again a moment later. */
  async #lastState(containerId: string): Promise<ContainerState | undefined> {
    const { engine, clock, signal } = this.#parts
    const state = await engine.inspect(containerId)
    if (!state || !wasToldToEnd(state)) return state
    await pause(clock, REMOVAL_MS, signal)
    return engine.inspect(containerId)
  }
}

const NO_RESTART: RestartOutlook = { attempts: 0, inSeconds: null, gaveUp: false }

const deathOf = ({ facts }: RunningContainer, state: ContainerState | undefined): Death =>
  classifyDeath(state, facts.memoryLimitBytes)
