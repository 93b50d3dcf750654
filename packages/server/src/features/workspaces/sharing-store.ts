import { parseRoleGroupName, type Role, roleGroupName, roles } from '@svc/protocol/roles'
import type { Kysely } from 'kysely'
import type { Database } from '../../storage/database.ts'
import type { ResourcePath } from '../acl/resource-path.ts'
import { resourceOf } from './workspace-resource.ts'

type Queries = Kysely<Database>

export interface Sharer {
  readonly id: string
  readonly email: string
  readonly handle: string
}

export interface NamedGroup {
  readonly id: string
  readonly name: string
  readonly source: 'manual' | 'workspace-role'
}

export interface RoleGroup {
  readonly id: string
  readonly name: string
  readonly role: Role
}

/** What sharing needs to know of people, groups and entries. It changes nothing: their own features do. */
export class SharingStore {
  /** Whom an entry allows something by name, in the order of their addresses. */
  async members(queries: Queries, workspaceId: string): Promise<Sharer[]> {
    return queries
      .selectFrom('acl_entries')
      .innerJoin('users', 'users.id', 'acl_entries.user_id')
      .select(['users.id', 'users.email', 'users.handle'])
      .distinct()
      .where('acl_entries.resource', '=', resourceOf(workspaceId))
      .where('acl_entries.action', '=', 'allow')
      .orderBy('users.email')
      .execute()
  }

  /** Every group the entries name, once, in the order they name them. */
  async groups(queries: Queries, workspaceId: string): Promise<NamedGroup[]> {
    return queries
      .selectFrom('acl_entries')
      .innerJoin('user_groups', 'user_groups.id', 'acl_entries.group_id')
      .select(['user_groups.id', 'user_groups.name', 'user_groups.source'])
      .where('acl_entries.resource', '=', resourceOf(workspaceId))
      .groupBy(['user_groups.id', 'user_groups.name', 'user_groups.source'])
      .orderBy((order) => order.fn.min('acl_entries.position'))
      .execute()
  }

  async findGroup(queries: Queries, id: string): Promise<NamedGroup | undefined> {
    return queries.selectFrom('user_groups').select(['id', 'name', 'source']).where('id', '=', id).executeTakeFirst()
  }

  /** In the order of the roles. One that somebody deleted is missing. */
  async roleGroups(queries: Queries, workspaceId: string): Promise<RoleGroup[]> {
    const names = roles.map((role) => roleGroupName(role, workspaceId))
    const rows = await queries
      .selectFrom('user_groups')
      .select(['id', 'name'])
      .where('name', 'in', names)
      .where('source', '=', 'workspace-role')
      .execute()
    const groups = rows.flatMap(({ id, name }) => {
      const role = parseRoleGroupName(name)?.role
      return role === undefined ? [] : [{ id, name, role }]
    })
    return groups.toSorted((a, b) => roles.indexOf(a.role) - roles.indexOf(b.role))
  }

  /** Who is in these groups, by group and in the order of their addresses. */
  async membersOfGroups(queries: Queries, groupIds: readonly string[]): Promise<(Sharer & { groupId: string })[]> {
    if (groupIds.length === 0) return []
    return queries
      .selectFrom('group_members')
      .innerJoin('users', 'users.id', 'group_members.user_id')
      .select(['group_members.group_id as groupId', 'users.id', 'users.email', 'users.handle'])
      .where('group_members.group_id', 'in', groupIds)
      .orderBy('users.email')
      .execute()
  }

  /** Everybody in whose lists the workspace is or may be, its owner aside. */
  async audience(queries: Queries, workspaceId: string): Promise<string[]> {
    const resource = resourceOf(workspaceId)
    const rows = await queries
      .selectFrom('acl_entries')
      .select('user_id as id')
      .where('resource', '=', resource)
      .where('user_id', 'is not', null)
      .union(
        queries
          .selectFrom('acl_entries')
          .innerJoin('group_members', 'group_members.group_id', 'acl_entries.group_id')
          .select('group_members.user_id as id')
          .where('acl_entries.resource', '=', resource),
      )
      .execute()
    return rows.flatMap(({ id }) => id ?? [])
  }

  /** The places at and below a workspace that have entries. */
  async placesOf(queries: Queries, workspaceId: string): Promise<ResourcePath[]> {
    const resource = resourceOf(workspaceId)
    const rows = await queries
      .selectFrom('acl_entries')
      .select('resource')
      .distinct()
      .where('resource', '>=', `${resource}/`)
      .where('resource', '<', `${resource}0`) // the character after a slash
      .execute()
    return [resource, ...rows.map((row): ResourcePath => `/${row.resource.slice(1)}`)]
  }
}
