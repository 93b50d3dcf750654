import type { Logger } from './logger.ts'

/** Work that nobody waits for until the server stops. It may not fail silently. */
export class Background {
  readonly #log: Logger
  readonly #running = new Set<Promise<void>>()

  constructor(log: Logger) {
    this.#log = log
  }

  run(what: string, work: () => Promise<void>): void {
    const task = work()
      .catch((error: unknown) => this.#log.error(`${what} failed`, { error }))
      .finally(() => this.#running.delete(task))
    this.#running.add(task)
  }

  /** Resolves when everything that was begun is done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
