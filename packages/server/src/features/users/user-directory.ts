import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../kernel/app-error.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { User, UserFilter } from './user.ts'
import type { UserStore } from './user-store.ts'

/** People read at once: a few milliseconds of work. */
const PORTION = 250

/** Enough to pick somebody from; who wants others types more. */
const FOUND_AT_MOST = 10

interface UserDirectoryParts {
  readonly storage: Storage
  readonly store: UserStore
  readonly accounts: Accounts
  readonly sessions: Sessions
}

/** Who has an account here: lists, pages, searches, and where somebody is signed in. */
export class UserDirectory {
  readonly #parts: UserDirectoryParts

  constructor(parts: UserDirectoryParts) {
    this.#parts = parts
  }

  /** Everybody as of this moment, read in portions so that the requests of others get their turn in between. */
  async list(filter: UserFilter): Promise<User[]> {
    const { storage, store } = this.#parts
    const ids = await store.ids(storage.db, filter)
    const users: User[] = []
    for (let start = 0; start < ids.length; start += PORTION) {
      users.push(...(await store.withIds(storage.db, ids.slice(start, start + PORTION))))
      await setImmediate()
    }
    return users
  }

  async page(filter: UserFilter, { page, pageSize }: { page: number; pageSize: number }) {
    const { storage, store } = this.#parts
    const ids = await store.ids(storage.db, filter, { limit: pageSize, offset: (page - 1) * pageSize })
    const users = await store.withIds(storage.db, ids)
    return { users, page, pageSize, total: await store.count(storage.db, filter) }
  }

  /** By the beginning of an address or a handle, whatever the case of its ASCII letters. */
  async search(prefix: string): Promise<Pick<User, 'id' | 'email' | 'handle'>[]> {
    if (prefix === '') throw new AppError('bad_request', 'Query too short')
    const { storage, store } = this.#parts
    const lower = prefix.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    return store.search(storage.db, lower, FOUND_AT_MOST)
  }

  async sessionsOf(userId: string): Promise<Session[]> {
    await this.#parts.accounts.require(userId)
    return this.#parts.sessions.listOf(userId)
  }
}
