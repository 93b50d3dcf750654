import { type Permission, permissions } from '@svc/protocol/permissions'
import { describe, expect, test } from 'vitest'
import { decide, permissionsOn } from './decide.ts'
import { defaultEntries } from './default-entries.ts'
import type { AclEntry, Principal, Subject } from './entry.ts'
import { type ResourcePath, staticResources } from './resource-path.ts'

const groups = { adminsId: 'id-of-admins', membersId: 'id-of-members' }
const helpdesk: Principal = { kind: 'group', id: 'id-of-helpdesk' }

const TABLE = `
  /            | Allow | Authenticated | view
  /            | Deny  | Everyone      | *
  /workspaces  | Allow | group admins  | create-workspace
  /workspaces  | Allow | group members | create-workspace
  /users       | Allow | group admins  | manage-users
  /users       | Allow | Authenticated | search-users
  /users       | Deny  | Everyone      | *
  /groups      | Allow | group admins  | manage-groups
  /groups      | Deny  | Everyone      | *
  /invitations | Allow | group admins  | manage-invitations
  /invitations | Deny  | Everyone      | *
  /server      | Allow | group admins  | manage-server-schedule
  /server      | Deny  | Everyone      | *
  /events      | Allow | group admins  | manage-events
  /events      | Deny  | Everyone      | *
  /acl         | Allow | group admins  | manage-acls
  /acl         | Deny  | Everyone      | *
  /volumes     | Allow | group admins  | view-volumes
  /volumes     | Allow | group admins  | manage-volumes
  /images      | Allow | Authenticated | view-images
`
const tableRows = TABLE.trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

const names: Record<string, string> = {
  everyone: 'Everyone',
  authenticated: 'Authenticated',
  [groups.adminsId]: 'group admins',
  [groups.membersId]: 'group members',
}
const seededRows = defaultEntries(groups).flatMap(({ resource, entries }) =>
  entries.map(({ action, principal, permission }) => [
    resource,
    action === 'allow' ? 'Allow' : 'Deny',
    names['id' in principal ? principal.id : principal.kind],
    permission,
  ]),
)

test('there are as many seeded entries as rows in the table', () => {
  expect(seededRows).toHaveLength(tableRows.length)
})

test.each(tableRows.map((cells, index) => ({ number: index + 1, cells })))(
  'seeded entry $number is $cells',
  ({ number, cells }) => {
    expect(seededRows[number - 1]).toEqual(cells)
  },
)

test('each resource is seeded once, and all of them are', () => {
  const resources = defaultEntries(groups).map(({ resource }) => resource)
  expect(resources.toSorted()).toEqual(staticResources.toSorted())
})

type Tree = ReadonlyMap<ResourcePath, readonly AclEntry[]>
const seeded: Tree = new Map(defaultEntries(groups).map(({ resource, entries }) => [resource, entries]))
const on = (tree: Tree) => (node: ResourcePath) => tree.get(node) ?? []
const withRow = (resource: ResourcePath, position: number, entry: AclEntry): Tree =>
  new Map(seeded).set(resource, (seeded.get(resource) ?? []).toSpliced(position, 0, entry))

const stranger: Subject = { userId: 'id-of-stranger', groupIds: new Set() }
const member: Subject = { userId: 'id-of-member', groupIds: new Set([groups.membersId]) }
const admin: Subject = { userId: 'id-of-admin', groupIds: new Set([groups.adminsId, groups.membersId]) }
const delegate: Subject = { userId: 'id-of-delegate', groupIds: new Set([groups.membersId, helpdesk.id]) }

/** Every resource, and what is allowed on it; every other permission must be denied. */
type Rights = Record<(typeof staticResources)[number] | '/workspaces/of-somebody-else', Permission[]>

const ofMember: Rights = {
  '/': ['view'],
  '/workspaces': ['view', 'create-workspace'],
  '/groups': [],
  '/users': ['search-users'],
  '/invitations': [],
  '/server': [],
  '/events': [],
  '/acl': [],
  '/volumes': ['view'],
  '/images': ['view', 'view-images'],
  '/workspaces/of-somebody-else': ['view', 'create-workspace'],
}
const ofAdmin: Rights = {
  '/': ['view'],
  '/workspaces': ['view', 'create-workspace'],
  '/groups': ['manage-groups'],
  '/users': ['manage-users', 'search-users'],
  '/invitations': ['manage-invitations'],
  '/server': ['manage-server-schedule'],
  '/events': ['manage-events'],
  '/acl': ['manage-acls'],
  '/volumes': ['view', 'manage-volumes', 'view-volumes'],
  '/images': ['view', 'view-images'],
  '/workspaces/of-somebody-else': ['view', 'create-workspace'],
}
const delegation: AclEntry = { action: 'allow', principal: helpdesk, permission: 'manage-users' }
const denyMembers: AclEntry = {
  action: 'deny',
  principal: { kind: 'group', id: groups.membersId },
  permission: 'create-workspace',
}

describe.each<{ who: string; subject: Subject; tree: Tree; rights: Rights }>([
  { who: 'an ordinary member', subject: member, tree: seeded, rights: ofMember },
  { who: 'an administrator', subject: admin, tree: seeded, rights: ofAdmin },
  {
    who: 'somebody in no group at all',
    subject: stranger,
    tree: seeded,
    rights: { ...ofMember, '/workspaces': ['view'], '/workspaces/of-somebody-else': ['view'] },
  },
  {
    who: 'a delegated administrator, allowed ahead of the Deny row',
    subject: delegate,
    tree: withRow('/users', 2, delegation),
    rights: { ...ofMember, '/users': ['manage-users', 'search-users'] },
  },
  {
    who: 'a member of the helpdesk, allowed behind the Deny row',
    subject: delegate,
    tree: withRow('/users', 3, delegation),
    rights: ofMember,
  },
  {
    who: 'an ordinary member beside a delegated administrator',
    subject: member,
    tree: withRow('/users', 2, delegation),
    rights: ofMember,
  },
  {
    who: 'a member where only administrators create workspaces',
    subject: member,
    tree: withRow('/workspaces', 1, denyMembers),
    rights: { ...ofMember, '/workspaces': ['view'], '/workspaces/of-somebody-else': ['view'] },
  },
  {
    who: 'an administrator, who is a member too, where only administrators create workspaces',
    subject: admin,
    tree: withRow('/workspaces', 1, denyMembers),
    rights: ofAdmin,
  },
])('$who', ({ subject, tree, rights }) => {
  const places = [...staticResources, '/workspaces/of-somebody-else'] as const

  test.each(places)('on %s may do what the table says, and nothing else', (resource) => {
    for (const permission of permissions) {
      const { allowed } = decide(subject, permission, resource, on(tree))
      expect({ permission, allowed }).toEqual({ permission, allowed: rights[resource].includes(permission) })
    }
    expect(permissionsOn(subject, resource, on(tree))).toEqual(rights[resource])
  })
})
