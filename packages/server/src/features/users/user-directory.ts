import { AppError } from '../../kernel/app-error.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { User, UserFilter } from './user.ts'
import type { UserStore } from './user-store.ts'

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

  list(filter: UserFilter): Promise<User[]> {
    const { storage, store } = this.#parts
    return store.list(storage.db, filter)
  }

  async page(filter: UserFilter, { page, pageSize }: { page: number; pageSize: number }) {
    const { storage, store } = this.#parts
    const users = await store.list(storage.db, filter, { limit: pageSize, offset: (page - 1) * pageSize })
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

  /** Always empty: the workspace feature, once there is one, fills this page. */
  async workspacesOf(userId: string, _part: { limit: number; offset: number }) {
    await this.#parts.accounts.require(userId)
    return { items: [], hasMore: false, nextOffset: null }
  }
}
