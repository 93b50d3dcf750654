import type { Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Database } from '../../storage/database.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { passwordAgesFrom } from '../accounts/usable.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { PasswordHasher } from './password-hash.ts'
import { findReuse } from './password-history.ts'
import { findTooLittleChange, findTooYoung, findWeakness, requireAcceptable } from './password-policy.ts'

interface PasswordsParts {
  readonly hasher: PasswordHasher
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly audit: AuditLog
  readonly policy: () => Settings['passwords']
  readonly clock: Clock
}

/** By which rules a password is replaced, and for whom. */
interface NextPassword {
  /** The one before, where its owner typed it. */
  readonly current?: string
  /** An administrator may replace a password however young it is, and so may somebody who is told to change it. */
  readonly anyAge?: boolean
  /** The address of who asks: see `PasswordHasher`. */
  readonly client: string | undefined
}

/** Gives accounts their passwords, under the policy. Hashes are made first, outside of any transaction. */
export class Passwords {
  readonly #parts: PasswordsParts

  constructor(parts: PasswordsParts) {
    this.#parts = parts
  }

  /** The hash of a password for an account that has none yet. */
  hashFirst(password: string, client: string | undefined): Promise<string> {
    requireAcceptable(findWeakness(password, this.#parts.policy()))
    return this.#parts.hasher.hash(password, client)
  }

  /** The hash of a password that replaces another. */
  async hashNext(account: Account, next: string, { current, anyAge, client }: NextPassword): Promise<string> {
    const { hasher, accounts, clock } = this.#parts
    const policy = this.#parts.policy()
    requireAcceptable(findWeakness(next, policy))
    if (!anyAge) requireAcceptable(findTooYoung(passwordAgesFrom(account), clock.nowMs() / 1000, policy))
    if (current !== undefined) requireAcceptable(findTooLittleChange(current, next, policy))
    const known = {
      currentHash: account.passwordHash,
      retiredHashes: await accounts.retiredHashes(account.id, policy.historyCount),
      ...(current === undefined ? {} : { currentPassword: current }),
    }
    requireAcceptable(await findReuse(hasher, next, known, policy, client))
    return hasher.hash(next, client)
  }

  /** Puts the new hash in place and ends every session of its owner. Refused when somebody else was faster. */
  async replace(
    tx: Transaction<Database>,
    account: Account,
    hash: string,
    how: { via: 'self-service' | 'password-reset' | 'expired-password' | 'admin'; mustChange: boolean; origin: Origin },
  ): Promise<void> {
    const { accounts, sessions, audit } = this.#parts
    const present = await accounts.requireUnchanged(tx, account)
    const { historyCount } = this.#parts.policy()
    await accounts.setPassword(tx, present, { hash, mustChange: how.mustChange, historyCount })
    const detail = { via: how.via }
    await audit.record(tx, how.origin, {
      event: 'user.password.change',
      targetType: 'user',
      targetId: account.id,
      detail,
    })
    await sessions.endAll(tx, account.id, how.origin, how.via === 'admin' ? 'admin-password-set' : 'password-change')
  }
}
