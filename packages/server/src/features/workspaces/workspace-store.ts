import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { type StartedWith, startedWithFromText, startedWithToText } from './started-with.ts'
import type { Workspace } from './workspace.ts'
import { fromRow, toColumns, toRow, type WorkspaceChange } from './workspace-columns.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** The table `workspaces`, one at a time; lists are in `workspace-list-store.ts`. */
export class WorkspaceStore {
  async find(queries: Queries, id: string): Promise<Workspace | undefined> {
    const row = await queries.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst()
    return row && fromRow(row)
  }

  async insert(tx: Tx, workspace: Workspace): Promise<void> {
    await tx.insertInto('workspaces').values(toRow(workspace)).execute()
  }

  async update(queries: Queries, id: string, change: WorkspaceChange): Promise<void> {
    const columns = toColumns(change)
    if (Object.keys(columns).length === 0) return
    await queries.updateTable('workspaces').set(columns).where('id', '=', id).execute()
  }

  async noteContainer(
    queries: Queries,
    id: string,
    { containerId, startedWith }: { containerId: string | null; startedWith: StartedWith | null },
  ): Promise<void> {
    const columns = { container_id: containerId, started_with: startedWith && startedWithToText(startedWith) }
    await queries.updateTable('workspaces').set(columns).where('id', '=', id).execute()
  }

  async startedWith(queries: Queries, id: string): Promise<StartedWith | undefined> {
    const row = await queries.selectFrom('workspaces').select('started_with').where('id', '=', id).executeTakeFirst()
    return row?.started_with ? startedWithFromText(row.started_with) : undefined
  }

  /** Its ports go with it. */
  async delete(tx: Tx, id: string): Promise<void> {
    await tx.deleteFrom('workspaces').where('id', '=', id).execute()
  }

  async withContainer(queries: Queries): Promise<Workspace[]> {
    const rows = await queries.selectFrom('workspaces').selectAll().where('container_id', 'is not', null).execute()
    return rows.map(fromRow)
  }

  /** The oldest first, as people built one on the other. */
  async toAutoStart(queries: Queries): Promise<Workspace[]> {
    const query = queries.selectFrom('workspaces').selectAll().where('auto_start', '=', 1)
    return (await query.orderBy('created_at').orderBy('id').execute()).map(fromRow)
  }

  async ownedBy(queries: Queries, ownerId: string): Promise<Workspace[]> {
    const query = queries.selectFrom('workspaces').selectAll().where('owner_id', '=', ownerId)
    return (await query.orderBy('created_at').orderBy('id').execute()).map(fromRow)
  }

  async namesOf(queries: Queries, ownerId: string): Promise<ReadonlySet<string>> {
    const rows = await queries.selectFrom('workspaces').select('name').where('owner_id', '=', ownerId).execute()
    return new Set(rows.map(({ name }) => name))
  }

  async hasName(queries: Queries, ownerId: string, name: string): Promise<boolean> {
    const query = queries.selectFrom('workspaces').select('id').where('owner_id', '=', ownerId).where('name', '=', name)
    return (await query.executeTakeFirst()) !== undefined
  }
}
