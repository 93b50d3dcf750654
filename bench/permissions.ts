import { type Permission, permissions } from '@svc/protocol/permissions'
import { rolePermissions, roles, userSharePermissions } from '@svc/protocol/roles'
import { decide } from '@svc/server/features/acl/decide'
import { defaultEntries } from '@svc/server/features/acl/default-entries'
import type { AclEntry, Principal, Subject } from '@svc/server/features/acl/entry'
import { type ResourcePath, staticResources } from '@svc/server/features/acl/resource-path'
import type { Figure } from './figure.ts'

const BUDGET_PER_SECOND = 1_000_000
const ENTRIES = 1000
/** 20 seeded entries, 34 for each of 28 workspaces, and four shares with a person of 7 entries each: 1,000. */
const WORKSPACES = 28
const DIRECT_SHARES = 4
const USERS = 200
const ROLES_PER_USER = 4
const QUESTIONS = 100_000
const ROUNDS = 41
const WARM_UP_ROUNDS = 5

interface Question {
  readonly subject: Subject
  readonly permission: Permission
  readonly resource: ResourcePath
}

/**
 * Permission checks in memory, over a tree of a thousand entries. Who asks for what, and where, is drawn beforehand.
 * Counted in processor time: what other programs take from the machine does not count.
 */
export async function permissionCheck(): Promise<Figure> {
  const tree = plantTree()
  const nothing: readonly AclEntry[] = []
  const entriesOn = (node: ResourcePath) => tree.get(node) ?? nothing
  const questions = drawQuestions()
  const rates: number[] = []
  const grants = new Set<number>()
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    let allowed = 0
    const before = process.cpuUsage()
    for (const { subject, permission, resource } of questions) {
      if (decide(subject, permission, resource, entriesOn).allowed) allowed++
    }
    const { user, system } = process.cpuUsage(before)
    rates.push(QUESTIONS / ((user + system) / 1e6))
    grants.add(allowed)
  }
  // Every round asks the same, so it must hear the same; and a tree that allows nothing would measure nothing.
  if (grants.size !== 1 || grants.has(0)) throw new Error(`the rounds allowed ${[...grants].join(', ')}`)
  const median = rates.slice(WARM_UP_ROUNDS).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]
  if (median === undefined) throw new Error('no round was measured')
  return {
    work: `permission check, ${ENTRIES} entries`,
    measured: `${Math.round(median)} decisions per processor second`,
    baseline: `budget of ${BUDGET_PER_SECOND}`,
    ratio: median / BUDGET_PER_SECOND,
    budget: { at: 'least', ratio: 1 },
  }
}

const userId = (index: number): string => `5f733558-0fe0-43f7-b38d-${String(index).padStart(12, '0')}`
const workspaceId = (index: number): string => `c2a1d0aa-6a1c-4f7e-9d55-${String(index).padStart(12, '0')}`
const roleGroupId = (role: string, index: number): string => `${role}-${workspaceId(index)}`

/** The seeded entries, and workspaces as they are when created: the owner's entry, then those of the four roles. */
function plantTree(): Map<ResourcePath, readonly AclEntry[]> {
  const tree = new Map<ResourcePath, readonly AclEntry[]>()
  for (const { resource, entries } of defaultEntries({ adminsId: 'admins', membersId: 'members' })) {
    tree.set(resource, entries)
  }
  for (let index = 0; index < WORKSPACES; index++) {
    const owner: Principal = { kind: 'user', id: userId(index) }
    const guest: Principal = { kind: 'user', id: userId(USERS - 1 - index) }
    tree.set(`/workspaces/${workspaceId(index)}`, [
      ...allow(owner, ['*']),
      ...roles.flatMap((role) => allow({ kind: 'group', id: roleGroupId(role, index) }, rolePermissions[role])),
      ...(index < DIRECT_SHARES ? allow(guest, userSharePermissions) : []),
    ])
  }
  const count = tree.values().reduce((sum, entries) => sum + entries.length, 0)
  if (count !== ENTRIES) throw new Error(`the tree has ${count} entries`)
  return tree
}

const allow = (principal: Principal, granted: readonly Permission[]): AclEntry[] =>
  granted.map((permission) => ({ action: 'allow', principal, permission }))

function drawQuestions(): Question[] {
  const below = repeatableDraw()
  const pick = <T>(from: readonly T[]): T => {
    const one = from[below(from.length)]
    if (one === undefined) throw new Error('nothing to pick from')
    return one
  }
  const subjects = Array.from({ length: USERS }, (_, index): Subject => {
    const ofRoles = Array.from({ length: ROLES_PER_USER }, () => roleGroupId(pick(roles), below(WORKSPACES)))
    return {
      userId: userId(index),
      groupIds: new Set(['members', ...(index % 50 === 0 ? ['admins'] : []), ...ofRoles]),
    }
  })
  // Mostly workspaces, as on a real server, and some places below one, so that walks differ in length.
  const places: ResourcePath[] = [...staticResources]
  for (let index = 0; index < WORKSPACES; index++) {
    places.push(`/workspaces/${workspaceId(index)}`)
    if (index % 4 === 0) places.push(`/workspaces/${workspaceId(index)}/files`)
  }
  return Array.from({ length: QUESTIONS }, () => ({
    subject: pick(subjects),
    permission: pick(permissions),
    resource: pick(places),
  }))
}

/** Numbers below a limit, the same in each run, so that two runs measure the same work. */
function repeatableDraw(): (limit: number) => number {
  let state = 1
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0 // constants of Numerical Recipes
    return Math.floor((state / 2 ** 32) * limit)
  }
}
