import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../storage/database.ts'

/** The `workspace_ports` table. Rows of a deleted workspace go with it. */
export class PortStore {
  async of(db: Kysely<Database>, workspaceId: string): Promise<number[]> {
    const rows = await db
      .selectFrom('workspace_ports')
      .select('port')
      .where('workspace_id', '=', workspaceId)
      .orderBy('port')
      .execute()
    return rows.map(({ port }) => port)
  }

  /** Every port that is given out, from `start` on. */
  async from(db: Kysely<Database>, start: number): Promise<number[]> {
    const rows = await db
      .selectFrom('workspace_ports')
      .select('port')
      .where('port', '>=', start)
      .orderBy('port')
      .execute()
    return rows.map(({ port }) => port)
  }

  async change(
    tx: Transaction<Database>,
    workspaceId: string,
    { give, take }: { give: readonly number[]; take: readonly number[] },
  ): Promise<void> {
    if (take.length > 0) {
      await tx.deleteFrom('workspace_ports').where('workspace_id', '=', workspaceId).where('port', 'in', take).execute()
    }
    if (give.length > 0) {
      const rows = give.map((port) => ({ port, workspace_id: workspaceId }))
      await tx.insertInto('workspace_ports').values(rows).execute()
    }
  }
}
