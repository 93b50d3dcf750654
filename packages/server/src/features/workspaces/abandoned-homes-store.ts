import type { Kysely } from 'kysely'
import type { Database } from '../../storage/database.ts'

type Queries = Kysely<Database>

/** The table `abandoned_homes`. */
export class AbandonedHomesStore {
  async add(queries: Queries, workspaceId: string): Promise<void> {
    await queries
      .insertInto('abandoned_homes')
      .values({ workspace_id: workspaceId })
      .onConflict((conflict) => conflict.column('workspace_id').doNothing())
      .execute()
  }

  async remove(queries: Queries, workspaceId: string): Promise<void> {
    await queries.deleteFrom('abandoned_homes').where('workspace_id', '=', workspaceId).execute()
  }

  async all(queries: Queries): Promise<string[]> {
    const rows = await queries.selectFrom('abandoned_homes').select('workspace_id').execute()
    return rows.map((row) => row.workspace_id)
  }
}
