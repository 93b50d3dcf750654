/** Tells whoever listens about something that has happened. Nobody may be driven by it to refuse or to change it. */
export class Announcer<T> {
  readonly #listeners = new Set<(news: T) => void>()

  /** The answer ends the subscription. */
  subscribe(listener: (news: T) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  announce(news: T): void {
    for (const listener of this.#listeners) listener(news)
  }
}
