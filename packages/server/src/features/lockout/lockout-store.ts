import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../storage/database.ts'
import type { Failures } from './failures.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** The table `login_failures`. */
export class LockoutStore {
  async find(queries: Queries, account: string): Promise<Failures | undefined> {
    const row = await queries.selectFrom('login_failures').selectAll().where('account', '=', account).executeTakeFirst()
    return row && { count: row.failures, firstAt: row.first_failure_at, lockedUntil: row.locked_until }
  }

  async put(tx: Tx, account: string, failures: Failures): Promise<void> {
    const columns = {
      failures: failures.count,
      first_failure_at: failures.firstAt,
      locked_until: failures.lockedUntil,
    }
    await tx
      .insertInto('login_failures')
      .values({ account, ...columns })
      .onConflict((conflict) => conflict.column('account').doUpdateSet(columns))
      .execute()
  }

  async delete(tx: Tx, account: string): Promise<void> {
    await tx.deleteFrom('login_failures').where('account', '=', account).execute()
  }

  async deleteStale(tx: Tx, before: { firstFailureAt: number; lockedUntil: number }): Promise<void> {
    await tx
      .deleteFrom('login_failures')
      .where('first_failure_at', '<', before.firstFailureAt)
      .where((where) => where.or([where('locked_until', 'is', null), where('locked_until', '<', before.lockedUntil)]))
      .execute()
  }
}
