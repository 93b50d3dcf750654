import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { Database, UsersTable } from '../../storage/database.ts'
import { BEHIND_ALL } from '../../storage/like.ts'
import type { Account, GroupName } from './account.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>

/** What may be changed of an account. */
export type AccountChange = Partial<Omit<Account, 'id' | 'createdAt' | 'provider' | 'addressChanges'>>

/** The tables `users` and `password_history`, and who is in which group. */
export class AccountStore {
  async find(
    queries: Queries,
    by: { id: string } | { email: string } | { handle: string },
  ): Promise<Account | undefined> {
    const [column, value] =
      'id' in by
        ? ['id' as const, by.id]
        : 'email' in by
          ? ['email' as const, by.email]
          : ['handle' as const, by.handle]
    const row = await queries.selectFrom('users').selectAll().where(column, '=', value).executeTakeFirst()
    return row && fromRow(row)
  }

  async insert(tx: Tx, account: Account): Promise<void> {
    await tx
      .insertInto('users')
      .values({ id: account.id, provider: account.provider, created_at: account.createdAt, ...required(account) })
      .execute()
  }

  async update(tx: Tx, id: string, change: AccountChange): Promise<void> {
    const columns = toColumns(change)
    if (Object.keys(columns).length === 0) return
    await tx.updateTable('users').set(columns).where('id', '=', id).execute()
    if (change.email === undefined) return
    const counted = { address_changes: sql<number>`address_changes + 1` }
    await tx.updateTable('users').set(counted).where('id', '=', id).execute()
  }

  async delete(tx: Tx, id: string): Promise<void> {
    await tx.deleteFrom('users').where('id', '=', id).execute()
  }

  /** The handles that could stand in the way of one that begins with `beginning`. A range: the index answers it. */
  async handlesLike(queries: Queries, beginning: string): Promise<ReadonlySet<string>> {
    const rows = await queries
      .selectFrom('users')
      .select('handle')
      .where('handle', '>=', beginning)
      .where('handle', '<', `${beginning}${BEHIND_ALL}`)
      .execute()
    return new Set(rows.map(({ handle }) => handle))
  }

  async groupsOf(queries: Queries, userId: string): Promise<GroupName[]> {
    return queries
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .select(['user_groups.id', 'user_groups.name'])
      .where('group_members.user_id', '=', userId)
      .orderBy('user_groups.name')
      .execute()
  }

  async oldestIn(queries: Queries, groupName: string): Promise<string | undefined> {
    const row = await queries
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .innerJoin('users', 'users.id', 'group_members.user_id')
      .select('users.id')
      .where('user_groups.name', '=', groupName)
      .orderBy('users.created_at')
      .orderBy('users.id')
      .executeTakeFirst()
    return row?.id
  }

  /** People who can sign in, are not in the group, and have not been active since. */
  async dormantSince(queries: Queries, seconds: number, spared: string): Promise<{ id: string; email: string }[]> {
    const members = queries
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .select('group_members.user_id')
      .where('user_groups.name', '=', spared)
    return queries
      .selectFrom('users')
      .select(['id', 'email'])
      .where('disabled', '=', 0)
      .where('provider', '<>', 'system')
      .where('created_at', '<', seconds)
      .where((where) => where.or([where('last_login_at', 'is', null), where('last_login_at', '<', seconds)]))
      .where((where) => where.or([where('last_activity_at', 'is', null), where('last_activity_at', '<', seconds)]))
      .where('id', 'not in', members)
      .execute()
  }

  async join(tx: Tx, userId: string, groupName: string): Promise<void> {
    const group = await tx.selectFrom('user_groups').select('id').where('name', '=', groupName).executeTakeFirst()
    if (!group) return
    await tx
      .insertInto('group_members')
      .values({ group_id: group.id, user_id: userId, source: 'manual' })
      .onConflict((conflict) => conflict.columns(['group_id', 'user_id']).doNothing())
      .execute()
  }

  /** The newest first. */
  async retiredHashes(queries: Queries, userId: string, count: number): Promise<string[]> {
    const rows = await queries
      .selectFrom('password_history')
      .select('password_hash')
      .where('user_id', '=', userId)
      .orderBy('id', 'desc')
      .limit(count)
      .execute()
    return rows.map((row) => row.password_hash)
  }

  /** Keeps the newest `count` and no more. */
  async retireHash(tx: Tx, userId: string, hash: string, count: number, nowSeconds: number): Promise<void> {
    await tx
      .insertInto('password_history')
      .values({ user_id: userId, password_hash: hash, retired_at: nowSeconds })
      .execute()
    const kept = tx
      .selectFrom('password_history')
      .select('id')
      .where('user_id', '=', userId)
      .orderBy('id', 'desc')
      .limit(count)
    await tx.deleteFrom('password_history').where('user_id', '=', userId).where('id', 'not in', kept).execute()
  }
}

function fromRow(row: Selectable<UsersTable>): Account {
  return {
    id: row.id,
    email: row.email,
    handle: row.handle,
    addressChanges: row.address_changes,
    verified: row.verified === 1,
    provider: row.provider,
    passwordHash: row.password_hash,
    passwordSetAt: row.password_set_at,
    mustChangePassword: row.must_change_password === 1,
    disabled: row.disabled === 1,
    createdAt: row.created_at,
    lastLoginAt: row.last_login_at,
    lastActivityAt: row.last_activity_at,
  }
}

const bit = (value: boolean): number => (value ? 1 : 0)

const required = (account: Account) => ({
  email: account.email,
  handle: account.handle,
  verified: bit(account.verified),
  password_hash: account.passwordHash,
  password_set_at: account.passwordSetAt,
  must_change_password: bit(account.mustChangePassword),
  disabled: bit(account.disabled),
  last_login_at: account.lastLoginAt,
  last_activity_at: account.lastActivityAt,
})

function toColumns(change: AccountChange) {
  return {
    ...(change.email === undefined ? {} : { email: change.email }),
    ...(change.handle === undefined ? {} : { handle: change.handle }),
    ...(change.verified === undefined ? {} : { verified: bit(change.verified) }),
    ...(change.passwordHash === undefined ? {} : { password_hash: change.passwordHash }),
    ...(change.passwordSetAt === undefined ? {} : { password_set_at: change.passwordSetAt }),
    ...(change.mustChangePassword === undefined ? {} : { must_change_password: bit(change.mustChangePassword) }),
    ...(change.disabled === undefined ? {} : { disabled: bit(change.disabled) }),
    ...(change.lastLoginAt === undefined ? {} : { last_login_at: change.lastLoginAt }),
    ...(change.lastActivityAt === undefined ? {} : { last_activity_at: change.lastActivityAt }),
  }
}
