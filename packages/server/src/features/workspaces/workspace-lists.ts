import type { ListedState } from '@svc/protocol/workspaces'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Workspace } from './workspace.ts'
import type { SharedRow, WorkspaceListStore, WorkspaceView } from './workspace-list-store.ts'

interface WorkspaceListsParts {
  readonly storage: Storage
  readonly store: WorkspaceListStore
  readonly accounts: Pick<Accounts, 'require'>
  readonly statusOf: (workspaceId: string) => ListedState
}

export interface Listed {
  readonly workspace: Workspace
  readonly state: ListedState
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly hasMore: boolean
  readonly nextOffset: number | null
}

/** Lists of workspaces with how each of them is doing. */
export class WorkspaceLists {
  readonly #parts: WorkspaceListsParts

  constructor(parts: WorkspaceListsParts) {
    this.#parts = parts
  }

  async owned(ownerId: string, view: WorkspaceView): Promise<Page<Listed>> {
    const { storage, store } = this.#parts
    const workspaces = await store.owned(storage.db, ownerId, oneMore(view))
    return pageOf(
      workspaces.map((workspace) => this.#withState({ workspace })),
      view,
    )
  }

  /** Those of others that are shared with this user. */
  async shared(userId: string, view: WorkspaceView): Promise<Page<Listed & SharedRow>> {
    const { storage, store } = this.#parts
    const rows = await store.shared(storage.db, userId, oneMore(view))
    return pageOf(
      rows.map((row) => this.#withState(row)),
      view,
    )
  }

  /** For administrators: the newest of somebody's workspaces first. */
  async ofUser(userId: string, part: { limit: number; offset: number }): Promise<Page<Listed>> {
    await this.#parts.accounts.require(userId)
    return this.owned(userId, { ...part, sort: 'created', order: 'desc', text: undefined })
  }

  #withState<T extends { workspace: Workspace }>(row: T): T & { state: ListedState } {
    return { ...row, state: this.#parts.statusOf(row.workspace.id) }
  }
}

/** Tells whether anything comes after the page. */
const oneMore = (view: WorkspaceView): WorkspaceView => ({ ...view, limit: view.limit + 1 })

function pageOf<T>(rows: readonly T[], { limit, offset }: WorkspaceView): Page<T> {
  const items = rows.slice(0, limit)
  return { items, hasMore: items.length === limit, nextOffset: rows.length > limit ? offset + limit : null }
}
