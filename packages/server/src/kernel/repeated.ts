import type { Clock } from './clock.ts'
import type { Logger } from './logger.ts'

interface RepeatedParts {
  readonly what: string
  readonly everyMs: number
  readonly work: () => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

/** Does something at the start and then again after each interval. A failure is logged, and the next try comes. */
export class Repeated {
  readonly #parts: RepeatedParts
  #cancel: (() => void) | undefined
  #running: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(parts: RepeatedParts) {
    this.#parts = parts
  }

  /** Resolves when it was done for the first time. */
  async start(): Promise<void> {
    const { what, everyMs, work, clock, log } = this.#parts
    this.#running = work().catch((error: unknown) => log.error(`${what} failed`, { error }))
    await this.#running
    if (!this.#stopped) this.#cancel = clock.after(everyMs, () => void this.start())
  }

  /** Afterwards nothing is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#running
  }
}
