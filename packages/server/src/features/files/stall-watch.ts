import type { Clock } from '../../kernel/clock.ts'

/** Notices when nothing has moved for `limitMs`, at the latest after twice that. Costs nothing while things move. */
export class StallWatch {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #stalled: () => void
  #hasMoved = false
  #cancel: () => void

  constructor(parts: { clock: Clock; limitMs: number; stalled: () => void }) {
    this.#clock = parts.clock
    this.#limitMs = parts.limitMs
    this.#stalled = parts.stalled
    this.#cancel = this.#begin()
  }

  moved(): void {
    this.#hasMoved = true
  }

  end(): void {
    this.#cancel()
  }

  #begin(): () => void {
    this.#hasMoved = false
    return this.#clock.after(this.#limitMs, () => {
      if (this.#hasMoved) this.#cancel = this.#begin()
      else this.#stalled()
    })
  }
}
