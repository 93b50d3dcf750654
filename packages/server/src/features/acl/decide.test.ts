import { type Permission, permissions } from '@svc/protocol/permissions'
import { describe, expect, test } from 'vitest'
import { decide, permissionsOn } from './decide.ts'
import type { AclEntry, Principal, Subject } from './entry.ts'
import type { ResourcePath } from './resource-path.ts'

const ann: Subject = { userId: 'ann', groupIds: new Set(['coders', 'members']) }

const everyone: Principal = { kind: 'everyone' }
const authenticated: Principal = { kind: 'authenticated' }
const user = (id: string): Principal => ({ kind: 'user', id })
const group = (id: string): Principal => ({ kind: 'group', id })
const allow = (principal: Principal, permission: Permission): AclEntry => ({ action: 'allow', principal, permission })
const deny = (principal: Principal, permission: Permission): AclEntry => ({ action: 'deny', principal, permission })

type Tree = Partial<Record<ResourcePath, AclEntry[]>>
const on = (tree: Tree) => (node: ResourcePath) => tree[node] ?? []

interface Case {
  rule: string
  tree: Tree
  asks?: Permission
  at?: ResourcePath
  allowed: boolean
}

describe('what ann may do', () => {
  test.each<Case>([
    { rule: 'no entry at all denies', tree: {}, allowed: false },
    { rule: 'an entry for everyone is for her', tree: { '/': [allow(everyone, 'view')] }, allowed: true },
    { rule: 'an entry for the signed-in is for her', tree: { '/': [allow(authenticated, 'view')] }, allowed: true },
    { rule: 'an entry for her is for her', tree: { '/': [allow(user('ann'), 'view')] }, allowed: true },
    { rule: 'an entry for somebody else is not', tree: { '/': [allow(user('bob'), 'view')] }, allowed: false },
    { rule: 'an entry for her group is for her', tree: { '/': [allow(group('coders'), 'view')] }, allowed: true },
    { rule: 'an entry for another group is not', tree: { '/': [allow(group('admins'), 'view')] }, allowed: false },
    { rule: 'a group with her id is not her', tree: { '/': [allow(group('ann'), 'view')] }, allowed: false },
    { rule: 'a user with the id of her group is not', tree: { '/': [allow(user('coders'), 'view')] }, allowed: false },
    { rule: 'another permission does not count', tree: { '/': [allow(user('ann'), 'terminal')] }, allowed: false },
    { rule: '* is every permission', tree: { '/': [allow(user('ann'), '*')] }, allowed: true },
    {
      rule: 'the first of two entries decides: allow',
      tree: { '/': [allow(user('ann'), 'view'), deny(everyone, '*')] },
      allowed: true,
    },
    {
      rule: 'the first of two entries decides: deny',
      tree: { '/': [deny(everyone, '*'), allow(user('ann'), 'view')] },
      allowed: false,
    },
    {
      rule: 'an entry for her is no stronger than one for everyone ahead of it',
      tree: { '/': [deny(everyone, 'view'), allow(user('ann'), 'view')] },
      allowed: false,
    },
    {
      rule: 'an exact permission is no stronger than * ahead of it',
      tree: { '/': [allow(everyone, '*'), deny(user('ann'), 'view')] },
      allowed: true,
    },
    {
      rule: 'an entry that does not match is passed over',
      tree: { '/': [deny(user('bob'), '*'), deny(everyone, 'terminal'), allow(everyone, 'view')] },
      allowed: true,
    },
    {
      rule: 'what is above is inherited',
      tree: { '/workspaces': [allow(user('ann'), 'view')] },
      at: '/workspaces/a/files',
      allowed: true,
    },
    {
      rule: 'a nearer allow decides before a deny above',
      tree: { '/': [deny(everyone, '*')], '/workspaces': [allow(user('ann'), 'view')] },
      at: '/workspaces/a',
      allowed: true,
    },
    {
      rule: 'a nearer deny decides before an allow above',
      tree: { '/': [allow(user('ann'), '*')], '/users': [deny(everyone, '*')] },
      at: '/users',
      allowed: false,
    },
    {
      rule: 'nearer entries that do not match leave it to those above',
      tree: { '/': [allow(everyone, 'view')], '/users': [deny(user('bob'), '*')] },
      at: '/users',
      allowed: true,
    },
    {
      rule: 'what is below does not count',
      tree: { '/workspaces/a': [allow(user('ann'), 'view')] },
      at: '/workspaces',
      allowed: false,
    },
    {
      rule: 'what is beside does not count',
      tree: { '/workspaces/a': [allow(user('ann'), 'view')] },
      at: '/workspaces/b',
      allowed: false,
    },
    {
      rule: 'a longer name is another place',
      tree: { '/workspaces/a': [allow(user('ann'), 'view')] },
      at: '/workspaces/ab',
      allowed: false,
    },
    { rule: 'asking for * is answered by *', tree: { '/': [allow(user('ann'), '*')] }, asks: '*', allowed: true },
    {
      rule: 'asking for * is not answered by an allow of less',
      tree: { '/': permissions.filter((word) => word !== '*').map((word) => allow(user('ann'), word)) },
      asks: '*',
      allowed: false,
    },
    {
      rule: 'asking for * is not answered by a deny of less',
      tree: { '/': [deny(user('ann'), 'view'), allow(user('ann'), '*')] },
      asks: '*',
      allowed: true,
    },
  ])('$rule', ({ tree, asks = 'view', at = '/', allowed }) => {
    expect(decide(ann, asks, at, on(tree)).allowed).toBe(allowed)
  })
})

test('a decision names the entry that made it', () => {
  const refusal = deny(group('members'), 'terminal')
  const entriesOn = on({ '/workspaces/a': [allow(user('bob'), '*'), refusal], '/': [allow(everyone, '*')] })
  expect(decide(ann, 'terminal', '/workspaces/a', entriesOn)).toEqual({ allowed: false, because: refusal })
})

test('a decision that no entry made names none', () => {
  expect(decide(ann, 'terminal', '/workspaces/a', on({}))).toEqual({ allowed: false, because: null })
})

test('what one may do is listed in the order of the vocabulary', () => {
  const entriesOn = on({ '/': [allow(everyone, 'search-users'), allow(everyone, 'terminal'), allow(everyone, 'view')] })
  expect(permissionsOn(ann, '/workspaces', entriesOn)).toEqual(['view', 'terminal', 'search-users'])
})

test('who may do everything has the whole vocabulary, * included', () => {
  expect(permissionsOn(ann, '/', on({ '/': [allow(user('ann'), '*')] }))).toEqual(permissions)
})

test('a denied permission is missing from an otherwise full list, which still has *', () => {
  const entriesOn = on({ '/': [deny(user('ann'), 'files-download'), allow(user('ann'), '*')] })
  expect(permissionsOn(ann, '/', entriesOn)).toEqual(permissions.filter((word) => word !== 'files-download'))
})
