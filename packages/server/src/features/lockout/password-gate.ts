import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { PasswordHasher } from '../passwords/password-hash.ts'
import { WorkLine } from '../passwords/work-line.ts'
import { type Lockout, lockedOut } from './lockout.ts'
import { RepeatCounter } from './repeat-counter.ts'

/** Longer identifiers are nobody's; they are cut before they are kept. */
const IDENTIFIER_LENGTH = 256
/** Tries for one account that may wait for their turn. */
const MAX_WAITING = 100

/** A password somebody gave, and where. */
export interface PasswordAttempt {
  /** Undefined when nobody has the identifier: the attempt then costs and looks the same. */
  readonly account: Account | undefined
  /** What was typed as the name. */
  readonly identifier: string
  readonly password: string
  readonly origin: Origin
  /** Where, unless it was the sign-in itself. */
  readonly path?: string
  /** The refusal of a wrong password. */
  readonly wrong?: AppError
}

/** The one place where a password is compared: with the lockout, in equal time, and on the record. */
export class PasswordGate {
  readonly #storage: Storage
  readonly #lockout: Lockout
  readonly #hasher: PasswordHasher
  readonly #audit: AuditLog
  /** The accounts that somebody tries at this moment. */
  readonly #turns = new Map<string, WorkLine>()
  readonly #refusals: RepeatCounter

  constructor(parts: { storage: Storage; lockout: Lockout; hasher: PasswordHasher; audit: AuditLog; clock: Clock }) {
    this.#storage = parts.storage
    this.#lockout = parts.lockout
    this.#hasher = parts.hasher
    this.#audit = parts.audit
    this.#refusals = new RepeatCounter(parts.clock)
  }

  /**
   * Resolves when the password is right. Whoever relies on it clears the failures in the transaction of what follows.
   * Tries for one account take turns: a guess is made only after the one before it has been counted, so that no number
   * of guesses side by side passes the lockout, nor takes the processor from people who sign in to other accounts.
   */
  async pass(attempt: PasswordAttempt): Promise<void> {
    const key = lockoutKey(attempt)
    const turns = this.#turns.get(key) ?? new WorkLine({ atOnce: 1, maxWaiting: MAX_WAITING, refusal: tooManyAtOnce })
    this.#turns.set(key, turns)
    try {
      await turns.run(() => this.#try(key, attempt))
    } finally {
      if (turns.isIdle && this.#turns.get(key) === turns) this.#turns.delete(key)
    }
  }

  async #try(key: string, attempt: PasswordAttempt): Promise<void> {
    const locked = await this.#lockout.lockedForSeconds(key)
    if (locked > 0) return this.#refuseLocked(key, attempt, locked)
    const { account, password, origin } = attempt
    if (await this.#hasher.verify(password, account?.passwordHash ?? null, origin.request?.clientAddress)) return
    const lockedNow = await this.#storage.transaction(async (tx) => {
      const seconds = await this.#lockout.countFailure(tx, key)
      await this.#audit.record(tx, withoutActor(attempt.origin), failure(attempt))
      return seconds
    })
    if (lockedNow > 0) throw lockedOut(lockedNow)
    throw attempt.wrong ?? new AppError('invalid_credentials', 'Invalid credentials')
  }

  /** On the record once a minute: anybody can cause this, without it costing them anything. */
  async #refuseLocked(key: string, attempt: PasswordAttempt, seconds: number): Promise<never> {
    const repeated = this.#refusals.count(key)
    if (repeated !== undefined) {
      const entry = failure(attempt, { reason: 'locked-out', ...(repeated > 0 ? { repeated } : {}) })
      await this.#storage.transaction((tx) => this.#audit.record(tx, withoutActor(attempt.origin), entry))
    }
    throw lockedOut(seconds)
  }
}

const tooManyAtOnce = () =>
  new AppError('unavailable', 'Too many sign-ins to this account at once; try again in a few seconds', {
    retryAfterSeconds: 5,
  })

/** Under which name failures are counted. */
export function lockoutKey({ account, identifier }: Pick<PasswordAttempt, 'account' | 'identifier'>): string {
  return account?.email ?? cut(identifier.trim().toLowerCase())
}

const cut = (text: string): string => text.slice(0, IDENTIFIER_LENGTH)

/** Who typed it is not known: that is what failed. */
const withoutActor = ({ request }: Origin): Origin => ({ actor: null, request })

function failure(attempt: PasswordAttempt, more: Readonly<Record<string, unknown>> = {}) {
  const { account, identifier, path } = attempt
  return {
    event: 'failed-login',
    targetType: 'user',
    targetId: account?.id ?? null,
    detail: { identifier: cut(identifier.replace(/\p{Cc}/gu, '')), ...(path === undefined ? {} : { path }), ...more },
  } as const
}
