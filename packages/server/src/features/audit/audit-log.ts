import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { AuditEntry } from './audit-entry.ts'
import type { AuditStore } from './audit-store.ts'

/** Writes the audit trail and counts what could not be written. */
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

  /** Records what the process itself did. A row that cannot be written is counted and logged, and stops nothing. */
  async recordOwn(entry: AuditEntry): Promise<void> {
    try {
      await this.#store.insert(entry, this.#clock.nowMs() / 1000)
    } catch (error) {
      this.#writeFailures++
      this.#lastFailureMs = this.#clock.nowMs()
      this.#log.error(`the audit row ${entry.event} could not be written`, { error })
    }
  }
}
