import type { Kysely } from 'kysely'
import type { Database } from '../../storage/database.ts'

type Queries = Kysely<Database>

/** The files of a workspace that is gone. */
export interface AbandonedHome {
  readonly workspaceId: string
  /** Of the workspace, for the archive to be made first; null when there is none to be made. */
  readonly description: string | null
}

/** The table `abandoned_homes`. */
export class AbandonedHomesStore {
  async add(queries: Queries, { workspaceId, description }: AbandonedHome): Promise<void> {
    await queries
      .insertInto('abandoned_homes')
      .values({ workspace_id: workspaceId, description })
      .onConflict((conflict) => conflict.column('workspace_id').doNothing())
      .execute()
  }

  /** From here on it only is to be removed. */
  async noteArchived(queries: Queries, workspaceId: string): Promise<void> {
    await queries
      .updateTable('abandoned_homes')
      .set({ description: null })
      .where('workspace_id', '=', workspaceId)
      .execute()
  }

  async remove(queries: Queries, workspaceId: string): Promise<void> {
    await queries.deleteFrom('abandoned_homes').where('workspace_id', '=', workspaceId).execute()
  }

  async all(queries: Queries): Promise<AbandonedHome[]> {
    const rows = await queries.selectFrom('abandoned_homes').select(['workspace_id', 'description']).execute()
    return rows.map((row) => ({ workspaceId: row.workspace_id, description: row.description }))
  }
}
