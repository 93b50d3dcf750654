import type { ListWorkspaces } from '@svc/protocol/workspaces'
import { type Kysely, type SqlBool, sql } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { contains } from '../../storage/like.ts'
import type { Workspace } from './workspace.ts'
import { fromRow } from './workspace-columns.ts'
import { RESOURCE_PREFIX } from './workspace-resource.ts'

type Queries = Kysely<Database>

/** Which workspaces, and in what order. */
export interface WorkspaceView {
  readonly limit: number
  readonly offset: number
  readonly sort: ListWorkspaces['sort']
  readonly order: ListWorkspaces['order']
  /** A part of the name; empty or undefined for all. */
  readonly text: string | undefined
}

export interface SharedRow {
  readonly workspace: Workspace
  readonly ownerEmail: string
}

/** Behind everything that begins with the prefix: `0` comes after `/`. */
const BEHIND_RESOURCES = '/workspaces0'

/**
 * To whom more entries apply has so many workspaces that it is quicker to go through all workspaces in the order of the
 * list until the page is full. Up to here the entries themselves take about ten milliseconds.
 */
const MANY_ENTRIES = 10_000

/** Lists of workspaces. */
export class WorkspaceListStore {
  readonly #manyEntries: number

  constructor({ manyEntries = MANY_ENTRIES }: { readonly manyEntries?: number } = {}) {
    this.#manyEntries = manyEntries
  }

  async owned(queries: Queries, ownerId: string, view: WorkspaceView): Promise<Workspace[]> {
    const { text } = view
    const rows = await queries
      .selectFrom('workspaces')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .$if(Boolean(text), (query) => query.where(contains('name', text ?? '')))
      .orderBy(view.sort === 'name' ? 'name' : 'created_at', view.order)
      .orderBy('id', view.order)
      .limit(view.limit)
      .offset(view.offset)
      .execute()
    return rows.map(fromRow)
  }

  /** Those of others that an entry allows the user, or a group they are in, something on. */
  async shared(queries: Queries, userId: string, view: WorkspaceView): Promise<SharedRow[]> {
    const { text } = view
    const fromEntries = (await this.#countEntries(queries, userId)) <= this.#manyEntries
    const rows = await queries
      .selectFrom('workspaces')
      .innerJoin('users', 'users.id', 'workspaces.owner_id')
      .selectAll('workspaces')
      .select('users.email as owner_email')
      .where('workspaces.owner_id', '<>', userId)
      .$if(fromEntries, (query) => query.where('workspaces.id', 'in', sharedIds(queries, userId)))
      .$if(!fromEntries, (query) => query.where(({ exists }) => exists(entriesHere(queries, userId))))
      .$if(Boolean(text), (query) => query.where(contains('workspaces.name', text ?? '')))
      .orderBy(view.sort === 'name' ? 'workspaces.name' : 'workspaces.created_at', view.order)
      .orderBy('workspaces.id', view.order)
      .limit(view.limit)
      .offset(view.offset)
      .execute()
    return rows.map(({ owner_email: ownerEmail, ...row }) => ({ workspace: fromRow(row), ownerEmail }))
  }

  /** How many entries name the user or a group they are in, as far as it matters. */
  async #countEntries(queries: Queries, userId: string): Promise<number> {
    const named = entriesFor(queries, userId)
    const entries = named.directly
      .select('acl_entries.resource')
      .unionAll(named.throughGroups.select('acl_entries.resource'))
    const { count } = await queries
      .selectFrom(entries.limit(this.#manyEntries + 1).as('entries'))
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return count
  }
}

/** The entries that name a user, and those that name a group they are in: an index leads to each. */
const entriesFor = (queries: Queries, userId: string) => ({
  directly: queries.selectFrom('acl_entries').where('acl_entries.user_id', '=', userId),
  throughGroups: queries
    .selectFrom('group_members')
    .innerJoin('acl_entries', 'acl_entries.group_id', 'group_members.group_id')
    .where('group_members.user_id', '=', userId),
})

/** From the entries to the workspaces: the way for who has few. */
function sharedIds(queries: Queries, userId: string) {
  const { directly, throughGroups } = entriesFor(queries, userId)
  return directly
    .where(ALLOWS_IN_WORKSPACE)
    .select(WORKSPACE_ID)
    .union(throughGroups.where(ALLOWS_IN_WORKSPACE).select(WORKSPACE_ID))
}

const WORKSPACE_ID = sql<string>`substr(acl_entries.resource, ${sql.lit(RESOURCE_PREFIX.length + 1)})`.as(
  'workspace_id',
)

const ALLOWS_IN_WORKSPACE = sql<SqlBool>`
  acl_entries.action = 'allow'
  and acl_entries.resource > ${sql.lit(RESOURCE_PREFIX)} and acl_entries.resource < ${sql.lit(BEHIND_RESOURCES)}
`

/** The entries of the workspace at hand: the way for who has many, because most that are looked at fit the page. */
const entriesHere = (queries: Queries, userId: string) =>
  queries
    .selectFrom('acl_entries')
    .select('acl_entries.position')
    .where(sql<SqlBool>`acl_entries.resource = ${sql.lit(RESOURCE_PREFIX)} || workspaces.id`)
    .where('acl_entries.action', '=', 'allow')
    .where((where) =>
      where.or([
        where('acl_entries.user_id', '=', userId),
        where.exists(
          queries
            .selectFrom('group_members')
            .select('group_members.user_id')
            .whereRef('group_members.group_id', '=', sql.ref('acl_entries.group_id'))
            .where('group_members.user_id', '=', userId),
        ),
      ]),
    )
