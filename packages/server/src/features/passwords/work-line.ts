/** Lets a few pieces of work run at the same time; the rest wait in line, first come, first served. */
export class WorkLine {
  readonly #atOnce: number
  readonly #maxWaiting: number
  readonly #refusal: () => Error
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** `refusal` makes the error for who comes when `maxWaiting` are already in line. */
  constructor(parts: { atOnce: number; maxWaiting: number; refusal: () => Error }) {
    this.#atOnce = parts.atOnce
    this.#maxWaiting = parts.maxWaiting
    this.#refusal = parts.refusal
  }

  /** Nothing runs and nobody waits. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /** Answers as `work` does. Failed work gives its place free like any other. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#atOnce) {
      this.#running++
      return
    }
    if (this.#waiting.length >= this.#maxWaiting) throw this.#refusal()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    await promise
  }

  #leave(): void {
    const next = this.#waiting.shift()
    // The place is handed on, not given back: a newcomer cannot slip in before the one called up.
    if (next) next()
    else this.#running--
  }
}
