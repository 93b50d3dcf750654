import type { Clock } from '../kernel/clock.ts'

const WINDOW_MS = 10_000
/** More than any mistake of a client that is meant well. */
const TOLERATED = 100

/** Counts what a client sends that is no message at all. */
export class MalformedFrames {
  readonly #clock: Clock
  #sinceMs = 0
  #count = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether that is one too many. */
  isOneTooMany(): boolean {
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#sinceMs >= WINDOW_MS || nowMs < this.#sinceMs) {
      this.#sinceMs = nowMs
      this.#count = 0
    }
    this.#count++
    return this.#count > TOLERATED
  }
}
