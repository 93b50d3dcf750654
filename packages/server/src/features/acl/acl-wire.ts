import type { MyPermissions, NewAclEntry, SystemPrincipal, AclEntry as WireEntry } from '@svc/protocol/acl'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../kernel/route.ts'
import type { Grant, NamedEntry } from './acl-store.ts'
import type { AclEntry, Principal } from './entry.ts'
import type { Overview } from './own-permissions.ts'
import type { ResourcePath } from './resource-path.ts'

const PRINCIPAL_FIELDS = ['system_principal', 'user_id', 'group_id'] as const

/** Entries as a client wrote them. That they name a principal of their type is checked here, that it exists is not. */
export function fromWire(entries: readonly NewAclEntry[]): AclEntry[] {
  return entries.map((entry, position) => ({
    action: entry.action === 1 ? 'allow' : 'deny',
    principal: principalOf(entry, position),
    permission: entry.permission,
  }))
}

function principalOf(entry: NewAclEntry, position: number): Principal {
  const { principal_type: type, user_id: userId, group_id: groupId, system_principal: system } = entry
  const given = PRINCIPAL_FIELDS.filter((field) => entry[field] !== null && entry[field] !== undefined)
  if (given.length === 1) {
    if (type === 0 && system != null) return { kind: isAuthenticated(system) ? 'authenticated' : 'everyone' }
    if (type === 1 && userId != null) return { kind: 'user', id: userId }
    if (type === 2 && groupId != null) return { kind: 'group', id: groupId }
  }
  const needed = PRINCIPAL_FIELDS[type]
  throw new AppError('bad_request', `Entry ${position}: principal_type ${type} needs ${needed}, and no other principal`)
}

const isAuthenticated = (system: SystemPrincipal | 0 | 1): boolean => system === 'Authenticated' || system === 1

export function toWire(resource: ResourcePath, entries: readonly NamedEntry[]): WireEntry[] {
  return entries.map(({ action, principal, permission, principalName }, position) => ({
    resource,
    ...grantToWire({ action, principal, permission }),
    user_id: principal.kind === 'user' ? principal.id : null,
    group_id: principal.kind === 'group' ? principal.id : null,
    system_principal: systemPrincipalOf(principal),
    position,
    principal: principalName,
  }))
}

/** What every shape of an entry says. */
const grantToWire = ({ action, principal, permission }: AclEntry) => ({
  action: action === 'allow' ? (1 as const) : (0 as const),
  principal_type: principalTypeOf(principal),
  permission,
})

export const userGrantsToWire = (userId: string, grants: readonly Grant[]) =>
  grants.map((grant) => ({ resource: grant.resource, ...grantToWire(grant), user_id: userId }))

export const groupGrantsToWire = (groupId: string, grants: readonly Grant[]) =>
  grants.map((grant) => ({ resource: grant.resource, ...grantToWire(grant), group_id: groupId }))

function principalTypeOf({ kind }: Principal): 0 | 1 | 2 {
  if (kind === 'user') return 1
  return kind === 'group' ? 2 : 0
}

function systemPrincipalOf({ kind }: Principal): SystemPrincipal | null {
  if (kind === 'everyone') return 'Everyone'
  return kind === 'authenticated' ? 'Authenticated' : null
}

export const overviewToWire = (caller: Caller, overview: Overview): MyPermissions => ({
  user_id: caller.userId,
  email: caller.email,
  groups: overview.groups.map(({ id, name, description }) => ({ id, name, description })),
  permissions: Object.fromEntries([...overview.permissions].map(([resource, allowed]) => [resource, [...allowed]])),
  is_admin: overview.isAdmin,
})
