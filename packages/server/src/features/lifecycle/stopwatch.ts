import type { Clock } from '../../kernel/clock.ts'

/** How long the phases of something took. */
export class Stopwatch {
  readonly #clock: Clock
  readonly #startMs: number
  #lapMs: number
  readonly #laps: Record<string, number> = {}

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startMs = clock.nowMs()
    this.#lapMs = this.#startMs
  }

  /** The phase that just ended. */
  lap(name: string): void {
    const nowMs = this.#clock.nowMs()
    this.#laps[name] = nowMs - this.#lapMs
    this.#lapMs = nowMs
  }

  /** Milliseconds of each phase, and of all together. */
  read(): Record<string, number> {
    return { ...this.#laps, total: this.#clock.nowMs() - this.#startMs }
  }
}
