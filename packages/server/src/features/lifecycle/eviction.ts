import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { AvailableMemory } from './memory-available.ts'

export interface EvictionSettings {
  readonly evictionEnabled: boolean
  readonly evictionThresholdPercent: number
  readonly evictionRecoveryPercent: number
  readonly evictionSustainPolls: number
  readonly evictionPollIntervalSeconds: number
}

/** How scarce memory has been: so many polls below the threshold, or so scarce that workspaces are being stopped. */
export type Pressure = { readonly state: 'calm'; readonly lowPolls: number } | { readonly state: 'evicting' }

export const CALM: Pressure = { state: 'calm', lowPolls: 0 }

/** The pressure after one more measurement. Between the two limits an episode goes on and stops nobody. */
export function nextPressure(before: Pressure, availablePercent: number, settings: EvictionSettings): Pressure {
  if (availablePercent >= settings.evictionRecoveryPercent) return CALM
  const isLow = availablePercent < settings.evictionThresholdPercent
  if (before.state === 'evicting') return before
  if (!isLow) return CALM
  const lowPolls = before.lowPolls + 1
  return lowPolls >= settings.evictionSustainPolls ? { state: 'evicting' } : { state: 'calm', lowPolls }
}

export interface EvictionCandidate {
  readonly workspaceId: string
  readonly lastActivityMs: number
}

export interface EvictorParts {
  readonly settings: () => EvictionSettings
  readonly measure: () => Promise<AvailableMemory | undefined>
  /** Those that may be stopped now. */
  readonly candidates: () => readonly EvictionCandidate[]
  readonly evict: (workspaceId: string) => Promise<void>
  readonly background: Background
  readonly clock: Clock
  readonly log: Logger
}

/** Stops workspaces that nobody uses when the machine runs out of memory: one at each poll, the longest unused first. */
export class Evictor {
  readonly #parts: EvictorParts
  #pressure: Pressure = CALM
  #saidNobody = false
  #saidUnmeasurable = false
  #cancel: (() => void) | undefined
  #ended = false

  constructor(parts: EvictorParts) {
    this.#parts = parts
  }

  begin(): void {
    if (this.#ended) return
    const { background, clock, settings } = this.#parts
    this.#cancel = clock.after(settings().evictionPollIntervalSeconds * 1000, () =>
      background.run('a look at the memory', async () => {
        await this.poll()
        this.begin()
      }),
    )
  }

  end(): void {
    this.#ended = true
    this.#cancel?.()
  }

  /** One look, and at most one workspace less. Never fails. */
  async poll(): Promise<void> {
    const { log } = this.#parts
    try {
      await this.#look()
    } catch (error) {
      log.error('a look at the memory failed', { error })
    }
  }

  async #look(): Promise<void> {
    const { settings, measure, candidates, evict, log } = this.#parts
    const limits = settings()
    const available = limits.evictionEnabled ? await measure() : undefined
    if (!available) {
      this.#pressure = CALM
      if (limits.evictionEnabled && !this.#saidUnmeasurable) log.warning('cannot measure memory; nothing is evicted')
      this.#saidUnmeasurable = limits.evictionEnabled
      return
    }
    this.#saidUnmeasurable = false
    const percent = available.fraction * 100
    this.#pressure = nextPressure(this.#pressure, percent, limits)
    if (this.#pressure.state === 'calm') this.#saidNobody = false
    if (this.#pressure.state === 'calm' || percent >= limits.evictionThresholdPercent) return
    const [longestUnused] = candidates().toSorted((a, b) => a.lastActivityMs - b.lastActivityMs)
    if (longestUnused) return evict(longestUnused.workspaceId)
    if (!this.#saidNobody) log.warning('memory is scarce, and no workspace may be stopped for it', { percent })
    this.#saidNobody = true
  }
}
