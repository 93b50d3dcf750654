import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { autoStart } from './auto-start.ts'
import type { StockTaking } from './stock-taking.ts'

/** A net under the engine's own news. */
const SWEEP_MS = 60_000
/** An engine that was away at the start of the server is asked again after this. */
const RETRY_MS = 5_000

interface UpkeepParts {
  readonly stock: StockTaking
  readonly workspaces: Pick<Workspaces, 'toAutoStart'>
  readonly mayAutoStart: () => boolean
  readonly start: (workspaceId: string) => Promise<unknown>
  readonly background: Background
  /** Aborted when the server ends. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

/** What the server does by itself: a look at all containers when it starts and then again, and the first starts. */
export class Upkeep {
  readonly #parts: UpkeepParts
  #looking: Promise<void> = Promise.resolve()
  #autoStarting = new AbortController()

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  /** Resolves when everything that runs was taken up. An engine that is away is asked again later. */
  async begin(): Promise<void> {
    await this.#firstLook()
    this.#lookLater()
  }

  /** Something may have been missed. */
  lookSoon(): void {
    this.#parts.background.run('looking at all containers', () => this.#look())
  }

  beginAutoStart(): void {
    const { background, workspaces, mayAutoStart, start, clock, log, random } = this.#parts
    this.#autoStarting = new AbortController()
    const { signal } = this.#autoStarting
    background.run('starting workspaces with the server', () =>
      autoStart({ workspaces, isAllowed: mayAutoStart, start, clock, log, random }, signal),
    )
  }

  endAutoStart(): void {
    this.#autoStarting.abort()
  }

  async #firstLook(): Promise<void> {
    const { log, background } = this.#parts
    try {
      await this.#look()
      this.beginAutoStart()
    } catch (error) {
      log.error('the engine cannot say what it runs; it is asked again', { error })
      this.#after(RETRY_MS, () => background.run('asking the engine what it runs', () => this.#firstLook()))
    }
  }

  /** One at a time; what is asked for meanwhile comes after it, because a list may be older than the news. */
  async #look(): Promise<void> {
    const { stock, signal } = this.#parts
    const look = this.#looking.catch(() => undefined).then(() => (signal.aborted ? undefined : stock.take()))
    this.#looking = look
    await look
  }

  /** The next one is planned when this one is over: looks that take long must not pile up. */
  #lookLater(): void {
    const look = () => this.#look().finally(() => this.#lookLater())
    this.#after(SWEEP_MS, () => this.#parts.background.run('looking at all containers', look))
  }

  #after(delayMs: number, work: () => void): void {
    const { clock, signal } = this.#parts
    if (signal.aborted) return
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', cancel)
      work()
    })
    signal.addEventListener('abort', cancel)
  }
}
