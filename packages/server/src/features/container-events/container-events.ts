import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type {
  ContainerEventEntry,
  ContainerEventFilter,
  ContainerEventRecord,
  ContainerEventRetention,
} from './container-event.ts'
import type { ContainerEventStore } from './container-event-store.ts'

const SECONDS_PER_DAY = 86_400
/** Rows removed in one transaction, so that old ones never hold up new ones for long. */
const BATCH = 500

/** Writes what happens to containers, reads it back, forgets what is old, and counts what could not be written. */
export class ContainerEvents {
  readonly #store: ContainerEventStore
  readonly #retention: () => ContainerEventRetention
  readonly #clock: Clock
  readonly #log: Logger
  #writeFailures = 0
  #lastFailureMs = Number.NEGATIVE_INFINITY

  constructor(parts: {
    store: ContainerEventStore
    retention: () => ContainerEventRetention
    clock: Clock
    log: Logger
  }) {
    this.#store = parts.store
    this.#retention = parts.retention
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** Since the process started. */
  get writeFailures(): number {
    return this.#writeFailures
  }

  /** Whether a row was lost in the last `windowMs`. */
  failedWithin(windowMs: number): boolean {
    return this.#clock.nowMs() - this.#lastFailureMs <= windowMs
  }

  /** Records what has happened. A row that cannot be written is counted and logged, and stops nothing. */
  async record(entry: ContainerEventEntry): Promise<void> {
    try {
      await this.#store.insert(entry, this.#clock.nowMs() / 1000)
    } catch (error) {
      this.#countFailure()
      const { event, cause, workspaceId } = entry
      this.#log.error(`the container row ${event} could not be written`, { cause, workspace: workspaceId, error })
    }
  }

  /** Records what is about to happen. When the row cannot be written, it must not. */
  async recordFirst(entry: ContainerEventEntry): Promise<void> {
    try {
      await this.#store.insert(entry, this.#clock.nowMs() / 1000)
    } catch (cause) {
      this.#countFailure()
      const text = 'The audit trail cannot be written at the moment, so nothing was changed'
      throw new AppError('audit_unavailable', text, { cause })
    }
  }

  /** The newest first, and how many there are in all. */
  list(
    filter: ContainerEventFilter,
    page: { limit: number; offset: number },
  ): Promise<{ records: ContainerEventRecord[]; total: number }> {
    return this.#store.page(filter, page)
  }

  /** Removes rows that are too old, then the oldest of those that are too many. */
  async prune(): Promise<void> {
    const { days, rowCap } = this.#retention()
    const since = this.#clock.nowMs() / 1000 - days * SECONDS_PER_DAY
    if (days > 0) await repeat(() => this.#store.deleteBefore(since, BATCH))
    if (rowCap > 0) await repeat(() => this.#store.deleteBeyond(rowCap, BATCH))
  }

  #countFailure(): void {
    this.#writeFailures++
    this.#lastFailureMs = this.#clock.nowMs()
  }
}

async function repeat(deleteSome: () => Promise<number>): Promise<void> {
  while ((await deleteSome()) === BATCH);
}
