import { systemAgent } from '@svc/protocol/system-agent'
import type { Insertable, Kysely, Transaction } from 'kysely'
import type { Database, UserGroupsTable } from '../../storage/database.ts'
import { ADMINS } from '../accounts/account.ts'

type Tx = Transaction<Database>

/** What a first start writes, and how it finds out whether it is one. */
export class SeedStore {
  /** The id of the group, whether or not it was there. */
  async ensureGroup(tx: Tx, group: Insertable<UserGroupsTable>): Promise<string> {
    const existing = await tx.selectFrom('user_groups').select('id').where('name', '=', group.name).executeTakeFirst()
    if (existing) return existing.id
    await tx.insertInto('user_groups').values(group).execute()
    return group.id
  }

  async insertAgent(tx: Tx, nowSeconds: number): Promise<void> {
    const agent = { ...systemAgent, provider: 'system', verified: 1, created_at: nowSeconds }
    await tx.insertInto('users').values(agent).execute()
  }

  async countAdmins(queries: Kysely<Database>, { withPassword = false } = {}): Promise<number> {
    const query = queries
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .innerJoin('users', 'users.id', 'group_members.user_id')
      .select((select) => select.fn.countAll<number>().as('count'))
      .where('user_groups.name', '=', ADMINS)
      .$if(withPassword, (all) => all.where('users.password_hash', 'is not', null))
    return (await query.executeTakeFirstOrThrow()).count
  }
}
