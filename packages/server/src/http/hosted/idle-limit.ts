import type { Clock } from '../../kernel/clock.ts'

/** Ends what stands still for too long. Costs nothing while it moves: the timer looks when it is due, not each time. */
export class IdleLimit {
  readonly #clock: Clock
  readonly #limitMs: number
  readonly #onIdle: () => void
  #movedMs: number
  #cancel: () => void

  constructor(parts: { clock: Clock; limitMs: number; onIdle: () => void }) {
    this.#clock = parts.clock
    this.#limitMs = parts.limitMs
    this.#onIdle = parts.onIdle
    this.#movedMs = this.#clock.nowMs()
    this.#cancel = this.#clock.after(this.#limitMs, () => this.#look())
  }

  moved(): void {
    this.#movedMs = this.#clock.nowMs()
  }

  end(): void {
    this.#cancel()
  }

  #look(): void {
    const leftMs = this.#movedMs + this.#limitMs - this.#clock.nowMs()
    if (leftMs <= 0) this.#onIdle()
    else this.#cancel = this.#clock.after(Math.min(leftMs, this.#limitMs), () => this.#look())
  }
}
