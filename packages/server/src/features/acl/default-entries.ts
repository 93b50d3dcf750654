import type { Permission } from '@svc/protocol/permissions'
import type { AclEntry, Principal } from './entry.ts'
import type { StaticResource } from './resource-path.ts'

export interface DefaultEntries {
  readonly resource: StaticResource
  /** In the order of their positions. */
  readonly entries: readonly AclEntry[]
}

/**
 * What a new server starts with. A surface that only administrators use ends with a Deny, so that nothing granted
 * further up reaches it; an Allow put ahead of that row hands the surface to somebody else.
 */
export function defaultEntries(groups: { adminsId: string; membersId: string }): DefaultEntries[] {
  const admins: Principal = { kind: 'group', id: groups.adminsId }
  const members: Principal = { kind: 'group', id: groups.membersId }
  return [
    { resource: '/', entries: [allow(authenticated, 'view'), denyTheRest] },
    { resource: '/workspaces', entries: [allow(admins, 'create-workspace'), allow(members, 'create-workspace')] },
    {
      resource: '/users',
      entries: [allow(admins, 'manage-users'), allow(authenticated, 'search-users'), denyTheRest],
    },
    { resource: '/groups', entries: [allow(admins, 'manage-groups'), denyTheRest] },
    { resource: '/invitations', entries: [allow(admins, 'manage-invitations'), denyTheRest] },
    { resource: '/server', entries: [allow(admins, 'manage-server-schedule'), denyTheRest] },
    { resource: '/events', entries: [allow(admins, 'manage-events'), denyTheRest] },
    { resource: '/acl', entries: [allow(admins, 'manage-acls'), denyTheRest] },
    { resource: '/volumes', entries: [allow(admins, 'view-volumes'), allow(admins, 'manage-volumes')] },
    { resource: '/images', entries: [allow(authenticated, 'view-images')] },
  ]
}

const authenticated: Principal = { kind: 'authenticated' }
const denyTheRest: AclEntry = { action: 'deny', principal: { kind: 'everyone' }, permission: '*' }

const allow = (principal: Principal, permission: Permission): AclEntry => ({ action: 'allow', principal, permission })
