import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Mail } from '../../mail/mail.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import { type Accounts, emailInUse, handleTaken, requireHuman } from '../accounts/accounts.ts'
import { requireEmail } from '../accounts/email-address.ts'
import { requireHandle } from '../accounts/handle.ts'
import { requireRank } from '../accounts/rank.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Links } from '../auth/links.ts'
import { sendLetter } from '../auth/send-letter.ts'
import type { Lockout } from '../lockout/lockout.ts'
import { lockoutKey } from '../lockout/password-gate.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { fieldsOf, type NewUser, type User, type UserChange } from './user.ts'
import type { UserStore } from './user-store.ts'

interface UserServiceParts {
  readonly storage: Storage
  readonly store: UserStore
  readonly accounts: Accounts
  readonly passwords: Passwords
  readonly sessions: Sessions
  readonly lockout: Lockout
  readonly access: AccessControl
  readonly links: Links
  readonly mail: Mail
  readonly audit: AuditLog
  readonly clock: Clock
}

/** What administrators do to the accounts of others. */
export class UserService {
  readonly #parts: UserServiceParts

  constructor(parts: UserServiceParts) {
    this.#parts = parts
  }

  async create(caller: Caller, fresh: NewUser, request: RequestFacts): Promise<User> {
    const { storage, store, accounts, audit } = this.#parts
    const email = requireEmail(fresh.email)
    await this.#requireUnregistered(email, storage.db)
    const id = randomUUID()
    const passwordHash = fresh.sendVerificationEmail ? null : await this.#firstHash(fresh, request)
    if (fresh.sendVerificationEmail) await this.#sendVerification({ id, email, addressChanges: 0 }, request)
    return storage.transaction(async (tx) => {
      await this.#requireUnregistered(email, tx)
      const verified = !fresh.sendVerificationEmail
      const account = await accounts.create(tx, { id, email, verified, passwordHash, mustChangePassword: true })
      const detail = { email, status: verified ? 'created' : 'pending-verification' }
      await audit.record(tx, { actor: caller, request }, about('user.create', id, detail))
      return withGroups(account, await store.groupsOf(tx, id))
    })
  }

  /** Everything is checked before anything is changed. */
  async update(caller: Caller, userId: string, change: UserChange, request: RequestFacts): Promise<void> {
    const { storage, accounts, passwords, audit, clock } = this.#parts
    requireHuman(userId)
    const account = await accounts.require(userId)
    await this.#requireRank(caller, userId, storage.db) // before the hash, and again in the transaction
    const fields = fieldsOf(change)
    if (fields.length === 0) return
    const names = namesIn(change)
    if (change.disabled && userId === caller.userId) {
      throw new AppError('bad_request', 'Cannot disable your own account')
    }
    requirePasswordHere(account, change)
    await this.#requireFree(userId, names, storage.db)
    const { password, disabled, mustChangePassword } = change
    const rules = { anyAge: true, client: request.clientAddress }
    const hash = password === undefined ? undefined : await passwords.hashNext(account, password, rules)
    const origin = { actor: caller, request }
    await storage.transaction(async (tx) => {
      const present = await accounts.require(userId, tx)
      await this.#requireRank(caller, userId, tx)
      await this.#requireFree(userId, names, tx)
      if (hash !== undefined) {
        await passwords.replace(tx, account, hash, { via: 'admin', mustChange: mustChangePassword ?? true, origin })
      }
      const accountChange = {
        ...names,
        ...(disabled === undefined ? {} : { disabled }),
        ...(mustChangePassword === undefined ? {} : { mustChangePassword }),
        // Or the next sweep for forgotten accounts would disable it again.
        ...(present.disabled && disabled === false ? { lastActivityAt: clock.nowMs() / 1000 } : {}),
      }
      await accounts.change(tx, userId, accountChange, caller)
      for (const entry of renamings(present, names)) await audit.record(tx, origin, entry)
      await audit.record(tx, origin, about('user.update', userId, { fields }))
    })
  }

  /** Lets somebody who typed too many wrong passwords try again. */
  async unlock(caller: Caller, userId: string, request: RequestFacts): Promise<void> {
    const { storage, accounts, lockout, audit } = this.#parts
    requireHuman(userId)
    await storage.transaction(async (tx) => {
      const account = await accounts.require(userId, tx)
      await this.#requireRank(caller, userId, tx)
      await lockout.clear(tx, lockoutKey({ account, identifier: account.email }))
      await audit.record(tx, { actor: caller, request }, about('user.unlock', userId, { email: account.email }))
    })
  }

  /** Whoever can set a password or an address can sign in as its owner, so nobody may do that to their betters. */
  async #requireRank(caller: Caller, userId: string, queries: Kysely<Database>): Promise<void> {
    const { accounts, access } = this.#parts
    const owner = { userId, groups: await accounts.groupsOf(userId, queries) }
    const manager = { userId: caller.userId, groups: await accounts.groupsOf(caller.userId, queries) }
    await requireRank(access, owner, manager, queries)
  }

  async #firstHash({ password }: NewUser, request: RequestFacts): Promise<string> {
    if (password === undefined) {
      throw new AppError('bad_request', 'Either a password or a verification email is needed')
    }
    return this.#parts.passwords.hashFirst(password, request.clientAddress)
  }

  async #sendVerification(
    account: Pick<Account, 'id' | 'email' | 'addressChanges'>,
    request: RequestFacts,
  ): Promise<void> {
    const { links, mail } = this.#parts
    const link = await links.toVerify(account, request.externalUrl)
    await sendLetter(mail, account.email, { kind: 'verify', ...link })
  }

  async #requireUnregistered(email: string, queries: Kysely<Database>): Promise<void> {
    if (await this.#parts.accounts.findByEmail(email, queries)) {
      throw new AppError('bad_request', 'Email already registered')
    }
  }

  /** Nobody else may have the address or the handle. */
  async #requireFree(userId: string, { email, handle }: Names, queries: Kysely<Database>): Promise<void> {
    const { accounts } = this.#parts
    const byEmail = email === undefined ? undefined : await accounts.findByEmail(email, queries)
    if (byEmail && byEmail.id !== userId) throw emailInUse()
    const byHandle = handle === undefined ? undefined : await accounts.findByHandle(handle, queries)
    if (byHandle && byHandle.id !== userId) throw handleTaken(byHandle.handle)
  }
}

/** By what people find an account. */
type Names = Pick<UserChange, 'email' | 'handle'>

const namesIn = ({ email, handle }: UserChange): Names => ({
  ...(email === undefined ? {} : { email: requireEmail(email) }),
  ...(handle === undefined ? {} : { handle: requireHandle(handle) }),
})

/** Passwords, and the duty to change them, are for accounts whose password is kept here. */
function requirePasswordHere(account: Account, { password, mustChangePassword }: UserChange): void {
  if (password === undefined && mustChangePassword === undefined) return
  if (account.provider !== 'local') {
    throw new AppError('bad_request', 'This account signs in through an identity provider and has no password here')
  }
}

/** Rows for what really became different. */
function* renamings(before: Account, { email, handle }: Names): Generator<AuditEntry> {
  if (email !== undefined && email !== before.email) {
    yield about('user.email.change', before.id, { email, via: 'admin' })
  }
  if (handle !== undefined && handle !== before.handle) {
    yield about('user.handle.change', before.id, { handle })
  }
}

function about(event: AuditEntry['event'], userId: string, detail: AuditEntry['detail']): AuditEntry {
  return { event, targetType: 'user', targetId: userId, detail }
}

function withGroups(
  { passwordHash: _, passwordSetAt: __, addressChanges: ___, ...account }: Account,
  groups: User['groups'],
): User {
  return { ...account, groups }
}
