import { randomUUID } from 'node:crypto'
import { roles } from '@svc/protocol/roles'
import { expect, test } from 'vitest'
import { type Group, requireDeletable, requireNameForPeople, requireRenamable } from './group.ts'

const WORKSPACE = 'c2a1d0aa-6a1c-4f7e-9d55-000000000001'

function group(parts: Partial<Group>): Group {
  return { id: randomUUID(), name: 'designers', description: null, source: 'manual', createdAt: 0, ...parts }
}

test.each(roles.flatMap((role) => [`${role}-${WORKSPACE}`, `${role}-${WORKSPACE.toUpperCase()}`]))(
  '%s is kept for a workspace',
  (name) => {
    expect(() => requireNameForPeople(name)).toThrow('kept for the roles of workspaces')
    expect(() => requireRenamable(group({}), name)).toThrow('kept for the roles of workspaces')
  },
)

test.each([
  'owners',
  'owners-',
  'coders-paris',
  `editors-${WORKSPACE}`,
  `owners-${WORKSPACE}-2`,
  `our-owners-${WORKSPACE}`,
])('people may name a group %s', (name) => {
  expect(() => requireNameForPeople(name)).not.toThrow()
})

test.each<[string, Partial<Group>, string, string]>([
  ['admins', { name: 'admins' }, 'staff', "The group 'admins' cannot be renamed"],
  ['any group to admins', {}, 'admins', "No other group can be named 'admins'"],
  [
    'a role group',
    { name: `owners-${WORKSPACE}`, source: 'workspace-role' },
    'bosses',
    'The name of a workspace role group cannot be changed',
  ],
])('nobody renames %s', (_, parts, name, sentence) => {
  expect(() => requireRenamable(group(parts), name)).toThrow(sentence)
})

test('admins cannot be deleted, and every other group can', () => {
  expect(() => requireDeletable(group({ name: 'admins' }))).toThrow("The group 'admins' cannot be deleted")
  for (const other of [{ name: 'members' }, { source: 'workspace-role' as const }]) {
    expect(() => requireDeletable(group(other))).not.toThrow()
  }
})
