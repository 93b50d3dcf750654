/** Tells whoever listens about something that has happened. Nobody may be driven by it to refuse or to change it. */
export class Announcer<T> {
  readonly #listeners = new Set<(news: T) => void>()

  /** The answer ends the subscription. */
  subscribe(listener: (news: T) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Everybody hears of it, also after one who throws; the first fault is thrown in the end. */
  announce(news: T): void {
    const faults: unknown[] = []
    for (const listener of this.#listeners) {
      try {
        listener(news)
      } catch (fault) {
        faults.push(fault)
      }
    }
    if (faults.length > 0) throw faults[0]
  }
}
