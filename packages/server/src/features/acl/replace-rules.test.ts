import type { Permission } from '@svc/protocol/permissions'
import { expect, test } from 'vitest'
import type { AclEntry, Principal } from './entry.ts'
import { digestOf, letsAdminsManage, letsTheSignedInView, mayNameGroup } from './replace-rules.ts'
import type { ResourcePath } from './resource-path.ts'

const everyone: Principal = { kind: 'everyone' }
const authenticated: Principal = { kind: 'authenticated' }
const user = (id: string): Principal => ({ kind: 'user', id })
const group = (id: string): Principal => ({ kind: 'group', id })
const allow = (principal: Principal, permission: Permission): AclEntry => ({ action: 'allow', principal, permission })
const deny = (principal: Principal, permission: Permission): AclEntry => ({ action: 'deny', principal, permission })

test.each<{ why: string; entries: AclEntry[]; kept: boolean }>([
  { why: 'the seeded list', entries: [allow(authenticated, 'view'), deny(everyone, '*')], kept: true },
  { why: '* holds view', entries: [allow(authenticated, '*')], kept: true },
  { why: 'a Deny behind it', entries: [allow(authenticated, 'view'), deny(authenticated, 'view')], kept: true },
  {
    why: 'a Deny of something else ahead',
    entries: [deny(everyone, 'terminal'), allow(authenticated, '*')],
    kept: true,
  },
  { why: 'a Deny for one person ahead', entries: [deny(user('bob'), '*'), allow(authenticated, 'view')], kept: true },
  { why: 'a Deny for one group ahead', entries: [deny(group('g'), '*'), allow(authenticated, 'view')], kept: true },
  { why: 'an Allow for everyone ahead', entries: [allow(everyone, '*'), allow(authenticated, 'view')], kept: true },
  { why: 'an empty list', entries: [], kept: false },
  { why: 'only everyone is allowed', entries: [allow(everyone, '*')], kept: false },
  { why: 'only a group is allowed', entries: [allow(group('members'), 'view')], kept: false },
  { why: 'something else is allowed', entries: [allow(authenticated, 'terminal')], kept: false },
  { why: 'it is a Deny', entries: [deny(authenticated, 'view')], kept: false },
  { why: 'a Deny for everyone ahead', entries: [deny(everyone, '*'), allow(authenticated, 'view')], kept: false },
  { why: 'a Deny of view ahead', entries: [deny(authenticated, 'view'), allow(authenticated, '*')], kept: false },
])('/ keeps the signed-in: $kept ($why)', ({ entries, kept }) => {
  expect(letsTheSignedInView(entries)).toBe(kept)
})

const seededRoot = [allow(authenticated, 'view'), deny(everyone, '*')]
const admins = group('admins')

test.each<{ why: string; onAcl: AclEntry[]; onRoot?: AclEntry[]; kept: boolean }>([
  { why: 'the seeded list', onAcl: [allow(admins, 'manage-acls'), deny(everyone, '*')], kept: true },
  { why: '* holds it', onAcl: [allow(admins, '*')], kept: true },
  { why: 'it is for all the signed-in', onAcl: [allow(authenticated, 'manage-acls')], kept: true },
  { why: 'a helpdesk ahead', onAcl: [allow(group('h'), 'manage-acls'), allow(admins, 'manage-acls')], kept: true },
  { why: '/ gives it', onAcl: [], onRoot: [allow(admins, '*'), ...seededRoot], kept: true },
  { why: '/ gives it, but not past a Deny', onAcl: [deny(everyone, '*')], onRoot: [allow(admins, '*')], kept: false },
  { why: 'an empty list', onAcl: [], kept: false },
  { why: 'an administrator by name', onAcl: [allow(user('root'), '*')], kept: false },
  { why: 'another group', onAcl: [allow(group('members'), 'manage-acls')], kept: false },
  { why: 'another permission', onAcl: [allow(admins, 'manage-users')], kept: false },
  { why: 'a Deny ahead', onAcl: [deny(authenticated, 'manage-acls'), allow(admins, '*')], kept: false },
])('/acl keeps administrators: $kept ($why)', ({ onAcl, onRoot = seededRoot, kept }) => {
  expect(letsAdminsManage('admins', { onAcl, onRoot })).toBe(kept)
})

test.each<{ name: string; source: 'manual' | 'workspace-role'; resource: ResourcePath; allowed: boolean }>([
  { name: 'owners-a', source: 'workspace-role', resource: '/workspaces/a', allowed: true },
  { name: 'owners-a', source: 'workspace-role', resource: '/workspaces/a/files', allowed: true },
  { name: 'owners-a', source: 'workspace-role', resource: '/workspaces/b', allowed: false },
  { name: 'owners-a', source: 'workspace-role', resource: '/workspaces/ab', allowed: false },
  { name: 'owners-a', source: 'workspace-role', resource: '/workspaces', allowed: false },
  { name: 'owners-a', source: 'workspace-role', resource: '/users', allowed: false },
  { name: 'owners-a', source: 'workspace-role', resource: '/', allowed: false },
  { name: 'strange', source: 'workspace-role', resource: '/workspaces/a', allowed: false },
  { name: 'owners-a', source: 'manual', resource: '/users', allowed: true },
  { name: 'owners-a', source: 'manual', resource: '/workspaces/b', allowed: true },
])('$resource may name the group $name ($source): $allowed', ({ name, source, resource, allowed }) => {
  expect(mayNameGroup(resource, { name, source })).toBe(allowed)
})

test('a digest tells lists apart by every part of their entries, and by their order', () => {
  const lists = [
    [],
    [allow(authenticated, 'view')],
    [deny(authenticated, 'view')],
    [allow(everyone, 'view')],
    [allow(authenticated, '*')],
    [allow(user('a'), 'view')],
    [allow(group('a'), 'view')],
    [allow(user('b'), 'view')],
    [allow(user('a'), 'view'), allow(user('b'), 'view')],
    [allow(user('b'), 'view'), allow(user('a'), 'view')],
  ]
  const digests = lists.map(digestOf)
  expect(new Set(digests).size).toBe(lists.length)
  for (const digest of digests) expect(digest).toMatch(/^[0-9a-f]{16}$/)
  expect(digestOf([allow(user('a'), 'view')])).toBe(digests[5])
})
