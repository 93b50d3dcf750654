import type { Clock } from '../kernel/clock.ts'

/** No timer runs longer: one of more than 24 days would fire at once, and none notices that the machine slept. */
const LONGEST_WAIT_MS = 3_600_000

/** Calls `expired` once when a moment has come that may be far off, and may be put off. */
export class Expiry {
  readonly #clock: Clock
  readonly #expired: () => void
  #cancel: (() => void) | undefined

  constructor(parts: { clock: Clock; expired: () => void }) {
    this.#clock = parts.clock
    this.#expired = parts.expired
  }

  /** In place of the moment set before. Epoch seconds. */
  set(expiresAt: number): void {
    this.#cancel?.()
    const leftMs = expiresAt * 1000 - this.#clock.nowMs()
    this.#cancel = this.#clock.after(Math.max(0, Math.min(leftMs, LONGEST_WAIT_MS)), () => {
      if (expiresAt * 1000 <= this.#clock.nowMs()) this.#expired()
      else this.set(expiresAt)
    })
  }

  stop(): void {
    this.#cancel?.()
  }
}
