import type { Kysely, Transaction } from 'kysely'
import { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import { whenCommitted } from '../../storage/aftermath.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { StartedWith } from './started-with.ts'
import type { Workspace } from './workspace.ts'
import type { WorkspaceStore } from './workspace-store.ts'

type Tx = Transaction<Database>

/** A workspace, or who may see it, is not what it was; those users' lists are out of date. */
export interface WorkspaceNews {
  readonly workspaceId: string
  readonly userIds: readonly string[]
}

/** What other parts of the server need of workspaces. The wishes of people are in the operations beside it. */
export class Workspaces {
  readonly changed = new Announcer<WorkspaceNews>()
  readonly #storage: Storage
  readonly #store: WorkspaceStore

  constructor(parts: { storage: Storage; store: WorkspaceStore }) {
    this.#storage = parts.storage
    this.#store = parts.store
  }

  find(id: string, queries: Kysely<Database> = this.#storage.db): Promise<Workspace | undefined> {
    return this.#store.find(queries, id)
  }

  async require(id: string, queries: Kysely<Database> = this.#storage.db): Promise<Workspace> {
    const workspace = await this.find(id, queries)
    if (!workspace) throw new AppError('workspace_not_found', 'Workspace not found')
    return workspace
  }

  /** A workspace that is gone has nothing to note, and that is no error. */
  async noteContainer(id: string, containerId: string | null, startedWith: StartedWith | null = null): Promise<void> {
    await this.#store.noteContainer(this.#storage.db, id, { containerId, startedWith })
  }

  /** What the container it has was made with. */
  startedWith(id: string): Promise<StartedWith | undefined> {
    return this.#store.startedWith(this.#storage.db, id)
  }

  /** Those that had a container when the server last knew. */
  withContainer(): Promise<Workspace[]> {
    return this.#store.withContainer(this.#storage.db)
  }

  /** Those to be started with the server, the oldest first. */
  toAutoStart(): Promise<Workspace[]> {
    return this.#store.toAutoStart(this.#storage.db)
  }

  /** The oldest first. */
  ownedBy(ownerId: string, queries: Kysely<Database> = this.#storage.db): Promise<Workspace[]> {
    return this.#store.ownedBy(queries, ownerId)
  }

  /** To be called in the transaction of every change that people should see. */
  noteChange(tx: Tx, workspaceId: string, userIds: Iterable<string>): void {
    const news: WorkspaceNews = { workspaceId, userIds: [...new Set(userIds)] }
    whenCommitted(tx, () => this.changed.announce(news))
  }
}
