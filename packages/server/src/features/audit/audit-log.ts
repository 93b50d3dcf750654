import type { Transaction } from 'kysely'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { AuditEntry, AuditFilter, AuditRecord, Origin } from './audit-entry.ts'
import type { AuditStore } from './audit-store.ts'

/** Writes the audit trail, reads it back, and counts what could not be written. */
export class AuditLog {
  readonly #store: AuditStore
  readonly #clock: Clock
  readonly #log: Logger
  #writeFailures = 0
  #lastFailureMs = Number.NEGATIVE_INFINITY

  constructor(parts: { store: AuditStore; clock: Clock; log: Logger }) {
    this.#store = parts.store
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

  /** Records a change as part of it: when the row cannot be written, the change does not happen either. */
  async record(tx: Transaction<Database>, origin: Origin, entry: AuditEntry): Promise<void> {
    try {
      await this.#store.insert(tx, origin, entry, this.#clock.nowMs() / 1000)
    } catch (error) {
      this.#countFailure()
      throw error
    }
  }

  /** Records what the process itself did. A row that cannot be written is counted and logged, and stops nothing. */
  async recordOwn(entry: AuditEntry): Promise<void> {
    try {
      await this.#store.insertAlone(entry, this.#clock.nowMs() / 1000)
    } catch (error) {
      this.#countFailure()
      this.#log.error(`the audit row ${entry.event} could not be written`, { error })
    }
  }

  /** The newest first, and how many there are in all. */
  list(
    filter: AuditFilter,
    page: { limit: number; offset: number },
  ): Promise<{ records: AuditRecord[]; total: number }> {
    return this.#store.page(filter, page)
  }

  #countFailure(): void {
    this.#writeFailures++
    this.#lastFailureMs = this.#clock.nowMs()
  }
}
