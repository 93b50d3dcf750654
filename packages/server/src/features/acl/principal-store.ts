import type { Kysely } from 'kysely'
import type { Database } from '../../storage/database.ts'

type Queries = Kysely<Database>

export interface NamedGroup {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly source: 'manual' | 'workspace-role'
}

/** What access control needs to know of the tables `users` and `user_groups`. */
export class PrincipalStore {
  /** Those of the ids that belong to somebody. */
  async knownUsers(queries: Queries, ids: Iterable<string>): Promise<ReadonlySet<string>> {
    const wanted = [...new Set(ids)]
    if (wanted.length === 0) return new Set()
    const rows = await queries.selectFrom('users').select('id').where('id', 'in', wanted).execute()
    return new Set(rows.map(({ id }) => id))
  }

  /** By name. An id that is no group's is left out. */
  async groups(queries: Queries, ids: Iterable<string>): Promise<NamedGroup[]> {
    const wanted = [...new Set(ids)]
    if (wanted.length === 0) return []
    return queries
      .selectFrom('user_groups')
      .select(['id', 'name', 'description', 'source'])
      .where('id', 'in', wanted)
      .orderBy('name')
      .execute()
  }

  async findGroupId(queries: Queries, name: string): Promise<string | undefined> {
    const row = await queries.selectFrom('user_groups').select('id').where('name', '=', name).executeTakeFirst()
    return row?.id
  }
}
