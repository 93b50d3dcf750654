/** One piece of work that several wait for. Each may give up alone; the work is given up when nobody waits any more. */
export class SharedPull {
  readonly #work: Promise<void>
  readonly #abandon = new AbortController()
  #waiting = 0

  constructor(begin: (signal: AbortSignal) => Promise<void>) {
    this.#work = begin(this.#abandon.signal)
    // Whoever waits hears of a failure; when all have left, nobody needs to.
    this.#work.catch(() => undefined)
  }

  /** Not given up yet, so that it may be joined. */
  get isOpen(): boolean {
    return !this.#abandon.signal.aborted
  }

  /** Resolves when the work is done; rejects when it fails, or as soon as `signal` aborts. */
  async join(signal: AbortSignal): Promise<void> {
    this.#waiting++
    const { promise: gaveUp, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp)
    try {
      if (signal.aborted) giveUp()
      await Promise.race([this.#work, gaveUp])
    } finally {
      signal.removeEventListener('abort', giveUp)
      this.#waiting--
      if (this.#waiting === 0) this.#abandon.abort()
    }
  }
}
