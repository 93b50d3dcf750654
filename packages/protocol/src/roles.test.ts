import { expect, test } from 'vitest'
import {
  groupSharePermissions,
  isRole,
  parseRoleGroupName,
  type Role,
  roleGroupDescription,
  roleGroupName,
  rolePermissions,
  roles,
  userSharePermissions,
} from './roles.ts'

const WORKSPACE = 'c2a1d0aa-6a1c-4f7e-9d55-000000000001'
const list = (text: string): string[] => text.split(',').map((word) => word.trim())

test('the roles are listed from owners to spectators', () => {
  expect(roles).toEqual(['owners', 'coders', 'collaborators', 'spectators'])
})

const CODERS =
  'monitor-workspace, join-workspace, terminal, start-workspace, stop-workspace, restart-workspace, egress-consent, code-in-isolation, exec-and-sync, spectate-on-shared-terminals, files-view, files-download, files-write'

test.each<[Role, string]>([
  ['owners', '*'],
  ['coders', CODERS],
  ['collaborators', `${CODERS}, code-in-shared-terminals, share-terminals`],
  ['spectators', 'monitor-workspace, join-workspace, terminal, spectate-on-shared-terminals'],
])('%s may: %s', (role, granted) => {
  expect(rolePermissions[role]).toEqual(list(granted))
})

test('a share with a person lets them see, open and use the files of a workspace', () => {
  expect(userSharePermissions).toEqual(
    list('view, monitor-workspace, join-workspace, terminal, files-view, files-download, files-write'),
  )
})

test('a share with a group grants the same without the status', () => {
  expect(groupSharePermissions).toEqual(list('view, join-workspace, terminal, files-view, files-download, files-write'))
})

test.each([...roles])('the name of the group of %s can be read back', (role) => {
  const name = roleGroupName(role, WORKSPACE)
  expect(name).toBe(`${role}-${WORKSPACE}`)
  expect(parseRoleGroupName(name)).toEqual({ role, workspaceId: WORKSPACE })
})

test.each([...roles])('the description of the group of %s holds the role and the id of the workspace', (role) => {
  expect(roleGroupDescription(role, WORKSPACE)).toBe(`${role} of workspace ${WORKSPACE}`)
})

test.each([
  '',
  '-',
  'owners',
  'owners-',
  `-${WORKSPACE}`,
  `owner-${WORKSPACE}`,
  `Owners-${WORKSPACE}`,
  `my-owners-${WORKSPACE}`,
  `constructor-${WORKSPACE}`,
  'admins',
  'members',
])('%j names no role group', (name) => {
  expect(parseRoleGroupName(name)).toBeUndefined()
})

test.each(['', 'owner', 'Owners', 'admins', 'toString'])('%j is no role', (word) => {
  expect(isRole(word)).toBe(false)
})
