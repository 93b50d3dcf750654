import { randomUUID } from 'node:crypto'
import { systemAgent } from '@svc/protocol/system-agent'
import type { Kysely, Transaction } from 'kysely'
import { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ReadCache } from '../../kernel/read-cache.ts'
import { whenCommitted, whenOver } from '../../storage/aftermath.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import { type Account, ADMINS, type GroupName, isAdmin, MEMBERS, type Standing } from './account.ts'
import type { AccountChange, AccountStore } from './account-store.ts'
import { freeHandle, handleFor, LONGEST_SUFFIX, MAX_HANDLE_LENGTH } from './handle.ts'
import { accountDisabled, passwordAgesFrom } from './usable.ts'

type Tx = Transaction<Database>

/** People whose standing is kept in memory. A server of this kind has fewer than that at a time. */
const STANDINGS_KEPT = 10_000

export interface NewAccount {
  /** Known beforehand where a mail about the account went out first. */
  readonly id?: string
  readonly email: string
  readonly verified: boolean
  readonly passwordHash: string | null
  readonly mustChangePassword?: boolean
  readonly provider?: string
}

interface ShutOut {
  readonly userId: string
  /** Who did it; undefined when the server did. */
  readonly by: string | undefined
}

/** Everybody with an account: who they are, and the rules every way to make or change one obeys. */
export class Accounts {
  /** An account was disabled or deleted: whatever its owner still has open must close. */
  readonly shutOut = new Announcer<ShutOut>()
  /** Groups, flags or names of an account changed: what was decided about its owner must be decided again. */
  readonly changed = new Announcer<{ userId: string }>()
  readonly #storage: Storage
  readonly #store: AccountStore
  readonly #clock: Clock
  readonly #standings: ReadCache<Standing>

  constructor(parts: { storage: Storage; store: AccountStore; clock: Clock }) {
    this.#storage = parts.storage
    this.#store = parts.store
    this.#clock = parts.clock
    this.#standings = new ReadCache({ capacity: STANDINGS_KEPT, load: (userId) => this.#readStanding(userId) })
  }

  /** From memory, or undefined when it must be read first. */
  peekStanding(userId: string): Standing | undefined {
    return this.#standings.peek(userId)
  }

  findStanding(userId: string): Promise<Standing | undefined> {
    return this.#standings.get(userId)
  }

  find(userId: string, queries: Kysely<Database> = this.#storage.db): Promise<Account | undefined> {
    return this.#store.find(queries, { id: userId })
  }

  async require(userId: string, queries: Kysely<Database> = this.#storage.db): Promise<Account> {
    const account = await this.find(userId, queries)
    if (!account) throw new AppError('not_found', 'User not found')
    return account
  }

  /** What was true of an account before something slow, such as comparing its password, must be true when it is used. */
  async requireUnchanged(tx: Tx, before: Account): Promise<Account> {
    const present = await this.find(before.id, tx)
    if (present?.passwordHash !== before.passwordHash) {
      throw new AppError('conflict', 'The password was changed in the meantime')
    }
    if (present.disabled) throw accountDisabled()
    return present
  }

  findByEmail(email: string, queries: Kysely<Database> = this.#storage.db): Promise<Account | undefined> {
    return this.#store.find(queries, { email: email.trim().toLowerCase() })
  }

  findByHandle(handle: string, queries: Kysely<Database> = this.#storage.db): Promise<Account | undefined> {
    return this.#store.find(queries, { handle: handle.trim() })
  }

  /** By address when there is an `@` in it, else by handle. */
  findByIdentifier(identifier: string): Promise<Account | undefined> {
    return identifier.includes('@') ? this.findByEmail(identifier) : this.findByHandle(identifier.toLowerCase())
  }

  /** Who is signed in without being asked in mode `none`: the default user, else the administrator who came first. */
  async findLocalUser(defaultEmail: string): Promise<Account | undefined> {
    const oldestId = await this.#store.oldestIn(this.#storage.db, ADMINS)
    const preferred = await this.findByEmail(defaultEmail)
    if (preferred && isAdmin({ groups: await this.#store.groupsOf(this.#storage.db, preferred.id) })) return preferred
    return oldestId === undefined ? undefined : this.find(oldestId)
  }

  /** A new account with a free handle, in the group of all members. Its address must be free: look first, in `tx`. */
  async create(tx: Tx, fresh: NewAccount): Promise<Account> {
    const nowSeconds = this.#clock.nowMs() / 1000
    const taken = await this.#store.handlesLike(tx, handleFor(fresh.email).slice(0, MAX_HANDLE_LENGTH - LONGEST_SUFFIX))
    const account: Account = {
      id: fresh.id ?? randomUUID(),
      email: fresh.email,
      handle: freeHandle(fresh.email, (handle) => taken.has(handle)),
      addressChanges: 0,
      verified: fresh.verified,
      provider: fresh.provider ?? 'local',
      passwordHash: fresh.passwordHash,
      passwordSetAt: fresh.passwordHash === null ? null : nowSeconds,
      mustChangePassword: fresh.mustChangePassword ?? false,
      disabled: false,
      createdAt: nowSeconds,
      lastLoginAt: null,
      lastActivityAt: null,
    }
    await this.#store.insert(tx, account)
    await this.join(tx, account.id, MEMBERS)
    return account
  }

  /** Nobody changes the system agent: the database refuses as well. `by` is who wants it, unless the server does. */
  async change(tx: Tx, userId: string, change: AccountChange, by?: { readonly userId: string }): Promise<void> {
    requireHuman(userId)
    await this.#store.update(tx, userId, change)
    this.noteChange(tx, userId)
    if (change.disabled) whenCommitted(tx, () => this.shutOut.announce({ userId, by: by?.userId }))
  }

  async delete(tx: Tx, userId: string): Promise<void> {
    requireHuman(userId)
    await this.#store.delete(tx, userId)
    this.noteChange(tx, userId)
    whenCommitted(tx, () => this.shutOut.announce({ userId, by: undefined }))
  }

  /** Puts somebody into one of the groups every installation has. */
  async join(tx: Tx, userId: string, groupName: string): Promise<void> {
    await this.#store.join(tx, userId, groupName)
    this.noteChange(tx, userId)
  }

  /** People who have not been active since that moment and are no administrators. */
  dormantSince(tx: Tx, seconds: number): Promise<{ id: string; email: string }[]> {
    return this.#store.dormantSince(tx, seconds, ADMINS)
  }

  groupsOf(userId: string, queries: Kysely<Database>): Promise<readonly GroupName[]> {
    return this.#store.groupsOf(queries, userId)
  }

  /** To be called in the transaction of every change to an account or its groups. */
  noteChange(tx: Tx, userId: string): void {
    whenOver(tx, () => this.#standings.forget(userId))
    whenCommitted(tx, () => this.changed.announce({ userId }))
  }

  /** Replaces the password and remembers the one before, as the history asks. The hash of it is made beforehand. */
  async setPassword(
    tx: Tx,
    account: Account,
    next: { hash: string; mustChange: boolean; historyCount: number },
  ): Promise<void> {
    const nowSeconds = this.#clock.nowMs() / 1000
    if (account.passwordHash !== null && next.historyCount > 0) {
      await this.#store.retireHash(tx, account.id, account.passwordHash, next.historyCount, nowSeconds)
    }
    await this.change(tx, account.id, {
      passwordHash: next.hash,
      passwordSetAt: nowSeconds,
      mustChangePassword: next.mustChange,
    })
  }

  retiredHashes(userId: string, count: number): Promise<string[]> {
    return this.#store.retiredHashes(this.#storage.db, userId, count)
  }

  async #readStanding(userId: string): Promise<Standing | undefined> {
    const account = await this.find(userId)
    if (!account) return undefined
    const groups = await this.#store.groupsOf(this.#storage.db, userId)
    return {
      userId,
      email: account.email,
      handle: account.handle,
      disabled: account.disabled,
      mustChangePassword: account.mustChangePassword,
      passwordAgesFrom: passwordAgesFrom(account),
      groups,
      groupIds: new Set(groups.map(({ id }) => id)),
    }
  }
}

export const emailInUse = () => new AppError('bad_request', 'Email already in use')
export const handleTaken = (handle: string) => new AppError('bad_request', `'${handle}' is already taken`)

/** The refusal for every attempt to treat the system agent as a person. */
export function requireHuman(userId: string): void {
  if (userId === systemAgent.id) throw new AppError('bad_request', 'The system agent cannot be changed')
}
