import { systemAgent } from '@svc/protocol/system-agent'
import type { Kysely, Selectable } from 'kysely'
import type { Database, UsersTable } from '../../storage/database.ts'
import { BEHIND_ALL, contains } from '../../storage/like.ts'
import type { GroupName } from '../accounts/account.ts'
import type { User, UserFilter } from './user.ts'

type Queries = Kysely<Database>

/** Everything but the password: what is not read cannot be given away. */
const COLUMNS = [
  'id',
  'email',
  'handle',
  'verified',
  'provider',
  'must_change_password',
  'disabled',
  'created_at',
  'last_login_at',
  'last_activity_at',
] as const satisfies readonly (keyof UsersTable)[]

type Row = Pick<Selectable<UsersTable>, (typeof COLUMNS)[number]>

const SORT_COLUMNS = { email: 'email', handle: 'handle', created: 'created_at' } as const

/** Lists of people. The system agent is none, so it is in no list. */
export class UserStore {
  /** The ids of all that fit the filter, or of a part of them. */
  async ids(queries: Queries, filter: UserFilter, part?: { limit: number; offset: number }): Promise<string[]> {
    const rows = await humans(queries, filter)
      .select('id')
      .orderBy(SORT_COLUMNS[filter.sort], filter.order)
      .orderBy('id', filter.order)
      .$if(part !== undefined, (query) => query.limit(part?.limit ?? 0).offset(part?.offset ?? 0))
      .execute()
    return rows.map(({ id }) => id)
  }

  /** In the order of the ids; without those who are gone. */
  async withIds(queries: Queries, ids: readonly string[]): Promise<User[]> {
    if (ids.length === 0) return []
    const rows = await queries.selectFrom('users').select(COLUMNS).where('id', 'in', ids).execute()
    const groups = await this.#groupsByUser(queries, ids)
    const users = new Map(rows.map((row) => [row.id, fromRow(row, groups.get(row.id) ?? [])]))
    return ids.flatMap((id) => users.get(id) ?? [])
  }

  async count(queries: Queries, filter: UserFilter): Promise<number> {
    const query = humans(queries, filter).select((select) => select.fn.countAll<number>().as('count'))
    return (await query.executeTakeFirstOrThrow()).count
  }

  /** Those whose address or handle begins with `prefix`, by address. Both are kept in lower case. */
  async search(queries: Queries, prefix: string, limit: number): Promise<Pick<User, 'id' | 'email' | 'handle'>[]> {
    const end = `${prefix}${BEHIND_ALL}`
    return (
      queries
        .selectFrom('users')
        .select(['id', 'email', 'handle'])
        .where('id', '!=', systemAgent.id)
        // Ranges and no pattern: each is answered by the index of its column.
        .where((where) =>
          where.or([
            where.and([where('email', '>=', prefix), where('email', '<', end)]),
            where.and([where('handle', '>=', prefix), where('handle', '<', end)]),
          ]),
        )
        .orderBy('email')
        .limit(limit)
        .execute()
    )
  }

  async groupsOf(queries: Queries, userId: string): Promise<readonly GroupName[]> {
    return (await this.#groupsByUser(queries, [userId])).get(userId) ?? []
  }

  /** The groups of those users, in one query however many there are. */
  async #groupsByUser(queries: Queries, userIds: readonly string[]): Promise<ReadonlyMap<string, GroupName[]>> {
    const groups = new Map<string, GroupName[]>()
    const rows = await queries
      .selectFrom('group_members')
      .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
      .select(['group_members.user_id', 'user_groups.id', 'user_groups.name'])
      .where('group_members.user_id', 'in', userIds)
      .orderBy('user_groups.name')
      .execute()
    for (const { user_id: userId, id, name } of rows) {
      const known = groups.get(userId)
      if (known) known.push({ id, name })
      else groups.set(userId, [{ id, name }])
    }
    return groups
  }
}

const humans = (queries: Queries, { q }: UserFilter) =>
  queries
    .selectFrom('users')
    .where('id', '!=', systemAgent.id)
    .$if(q !== '', (query) => query.where(contains('email', q)))

function fromRow(row: Row, groups: readonly GroupName[]): User {
  return {
    id: row.id,
    email: row.email,
    handle: row.handle,
    verified: row.verified === 1,
    provider: row.provider,
    mustChangePassword: row.must_change_password === 1,
    disabled: row.disabled === 1,
    createdAt: row.created_at,
    lastLoginAt: row.last_login_at,
    lastActivityAt: row.last_activity_at,
    groups,
  }
}
