export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP'

/**
 * The process's signals, from the moment this is made. Unhandled, even HUP ends a process, so nothing may come before;
 * what arrives before anybody listens waits.
 */
export class Signals {
  #handler: ((signal: Signal) => void) | undefined
  readonly #waiting: Signal[] = []
  readonly #ending = new AbortController()

  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#take(signal))
  }

  /** Aborted by the first TERM or INT, so that a start that waits for something can give up. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  handle(handler: (signal: Signal) => void): void {
    this.#handler = handler
    for (const signal of this.#waiting.splice(0)) handler(signal)
  }

  #take(signal: Signal): void {
    if (signal !== 'SIGHUP') this.#ending.abort()
    if (this.#handler) this.#handler(signal)
    else this.#waiting.push(signal)
  }
}
