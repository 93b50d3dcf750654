/** One holder at a time, first come first served. */
export class FifoLock {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn; the answer gives the turn back. */
  async acquire(): Promise<() => void> {
    const before = this.#last
    const turn = Promise.withResolvers<void>()
    this.#last = turn.promise
    await before
    return turn.resolve
  }
}
