import { permissions } from '@svc/protocol/permissions'
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import type { AclEntriesTable, Database } from '../../storage/database.ts'
import type { AclEntry, Principal } from './entry.ts'
import type { ResourcePath } from './resource-path.ts'

type Queries = Kysely<Database>
type Tx = Transaction<Database>
type Row = Pick<Selectable<AclEntriesTable>, 'action' | 'principal_kind' | 'user_id' | 'group_id' | 'permission'>

/** An entry with the name people know its principal by. */
export interface NamedEntry extends AclEntry {
  readonly principalName: string
}

/** An entry seen from its principal. */
export interface Grant extends AclEntry {
  readonly resource: string
}

const ENTRY = ['action', 'principal_kind', 'user_id', 'group_id', 'permission'] as const

const vocabulary = new Map<string, (typeof permissions)[number]>(permissions.map((word) => [word, word]))

/** The table `acl_entries`. */
export class AclStore {
  async entriesOn(queries: Queries, resource: ResourcePath): Promise<AclEntry[]> {
    const rows = await queries
      .selectFrom('acl_entries')
      .select(ENTRY)
      .where('resource', '=', resource)
      .orderBy('position')
      .execute()
    return rows.flatMap(fromRow)
  }

  async namedEntriesOn(queries: Queries, resource: ResourcePath): Promise<NamedEntry[]> {
    const rows = await queries
      .selectFrom('acl_entries')
      .leftJoin('users', 'users.id', 'acl_entries.user_id')
      .leftJoin('user_groups', 'user_groups.id', 'acl_entries.group_id')
      .select(ENTRY)
      .select(['users.email', 'user_groups.name'])
      .where('resource', '=', resource)
      .orderBy('position')
      .execute()
    return rows.flatMap((row) =>
      fromRow(row).map((entry) => ({ ...entry, principalName: row.email ?? row.name ?? systemName(entry.principal) })),
    )
  }

  /** Every entry that names this user or group, by resource and position. */
  async grantsOf(queries: Queries, { kind, id }: Extract<Principal, { id: string }>): Promise<Grant[]> {
    const rows = await queries
      .selectFrom('acl_entries')
      .select([...ENTRY, 'resource'])
      .where(kind === 'user' ? 'user_id' : 'group_id', '=', id)
      .orderBy('resource')
      .orderBy('position')
      .execute()
    return rows.flatMap((row) => fromRow(row).map((entry) => ({ ...entry, resource: row.resource })))
  }

  /** Every resource that has entries, by name. Reads the whole table: raw, so that the main thread need not. */
  async counts(queries: Queries): Promise<{ resource: string; entries: number }[]> {
    const { rows } = await sql<{ resource: string; entries: number }>`
      select resource, count(*) as entries from acl_entries group by resource order by resource
    `.execute(queries)
    return rows
  }

  async deniesTo(queries: Queries, groupId: string): Promise<boolean> {
    const query = queries.selectFrom('acl_entries').select('resource').where('group_id', '=', groupId)
    return (await query.where('action', '=', 'deny').limit(1).execute()).length > 0
  }

  async isEmpty(queries: Queries): Promise<boolean> {
    return (await queries.selectFrom('acl_entries').select('resource').limit(1).execute()).length === 0
  }

  /** The order of the list becomes the order in which they are asked. */
  async replace(tx: Tx, resource: ResourcePath, entries: readonly AclEntry[]): Promise<void> {
    await tx.deleteFrom('acl_entries').where('resource', '=', resource).execute()
    if (entries.length === 0) return
    const rows = entries.map((entry, position) => ({ resource, position, ...toRow(entry) }))
    await tx.insertInto('acl_entries').values(rows).execute()
  }
}

/** An entry whose permission an older program knew, and this one does not, grants and denies nothing. */
function fromRow(row: Row): AclEntry[] {
  const permission = vocabulary.get(row.permission)
  return permission ? [{ action: row.action, principal: principalOf(row), permission }] : []
}

function principalOf({ principal_kind: kind, user_id, group_id }: Row): Principal {
  if (kind === 'everyone' || kind === 'authenticated') return { kind }
  const id = kind === 'user' ? user_id : group_id
  if (id === null) throw new Error('an access-control entry names nobody') // the database refuses such a row
  return { kind, id }
}

const systemName = ({ kind }: Principal): string => (kind === 'authenticated' ? 'Authenticated' : 'Everyone')

function toRow({ action, principal, permission }: AclEntry): Row {
  return {
    action,
    principal_kind: principal.kind,
    user_id: principal.kind === 'user' ? principal.id : null,
    group_id: principal.kind === 'group' ? principal.id : null,
    permission,
  }
}
