import type { Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import { afterFailure, type LockoutRule, lockedForSeconds } from './failures.ts'
import type { LockoutStore } from './lockout-store.ts'

type Tx = Transaction<Database>

/** Keeps people from guessing passwords. An account is its address, so that address and handle share one count. */
export class Lockout {
  readonly #storage: Storage
  readonly #store: LockoutStore
  readonly #settings: () => Settings['auth']
  readonly #clock: Clock

  constructor(parts: { storage: Storage; store: LockoutStore; settings: () => Settings['auth']; clock: Clock }) {
    this.#storage = parts.storage
    this.#store = parts.store
    this.#settings = parts.settings
    this.#clock = parts.clock
  }

  /** Seconds until the next try; 0 when one may be made now. */
  async lockedForSeconds(account: string): Promise<number> {
    if (this.#rule().failures === 0) return 0
    return lockedForSeconds(await this.#store.find(this.#storage.db, account), this.#nowSeconds())
  }

  /** Counts a wrong password. Answers for how long the account is locked now; 0 when it is not. */
  async countFailure(tx: Tx, account: string): Promise<number> {
    const rule = this.#rule()
    if (rule.failures === 0) return 0
    const nowSeconds = this.#nowSeconds()
    const after = afterFailure(await this.#store.find(tx, account), nowSeconds, rule)
    await this.#store.put(tx, account, after)
    return lockedForSeconds(after, nowSeconds)
  }

  async clear(tx: Tx, account: string): Promise<void> {
    await this.#store.delete(tx, account)
  }

  /** Removes what no longer counts, such as the failures of people who do not exist. */
  async purgeStale(): Promise<void> {
    const nowSeconds = this.#nowSeconds()
    const before = { firstFailureAt: nowSeconds - this.#rule().windowSeconds, lockedUntil: nowSeconds }
    await this.#storage.transaction((tx) => this.#store.deleteStale(tx, before))
  }

  #rule(): LockoutRule {
    const { lockoutFailures, lockoutWindowSeconds, lockoutDurationSeconds } = this.#settings()
    return {
      failures: lockoutFailures,
      windowSeconds: lockoutWindowSeconds,
      durationSeconds: lockoutDurationSeconds,
    }
  }

  #nowSeconds(): number {
    return this.#clock.nowMs() / 1000
  }
}

export function lockedOut(seconds: number): AppError {
  const minutes = Math.max(1, Math.ceil(seconds / 60))
  const sentence = `Too many failed attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`
  return new AppError('account_locked', sentence, { retryAfterSeconds: seconds })
}
