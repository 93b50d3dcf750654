import { type Permission, permissions } from '@svc/protocol/permissions'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decide, permissionsOn } from './decide.ts'
import type { AclEntry, Principal, Subject } from './entry.ts'
import type { ResourcePath } from './resource-path.ts'

const RUNS = 20_000

/** An entry as a table holds it: anywhere in the list, with its resource and position beside it. */
interface Row {
  readonly resource: ResourcePath
  readonly position: number
  readonly entry: AclEntry
}

/**
 * The same rule told the other way round: not a walk, but all rows that could matter, the best one in front.
 * Names are compared as lists of segments, principals as words.
 */
function judge(
  subject: Subject,
  permission: Permission,
  resource: ResourcePath,
  rows: readonly Row[],
): AclEntry | null {
  const segments = (path: string) => path.split('/').filter((segment) => segment !== '')
  const target = segments(resource)
  const isAbove = (path: string) => segments(path).every((segment, index) => segment === target[index])
  const word = (principal: Principal) => ('id' in principal ? `${principal.kind} ${principal.id}` : principal.kind)
  const words = [
    'everyone',
    'authenticated',
    `user ${subject.userId}`,
    ...[...subject.groupIds].map((id) => `group ${id}`),
  ]
  const [best] = rows
    .filter((row) => isAbove(row.resource))
    .filter((row) => words.includes(word(row.entry.principal)))
    .filter((row) => [permission, '*'].includes(row.entry.permission))
    .toSorted((a, b) => segments(b.resource).length - segments(a.resource).length || a.position - b.position)
  return best?.entry ?? null
}

function entriesOf(rows: readonly Row[]): (node: ResourcePath) => readonly AclEntry[] {
  const byResource = Map.groupBy(
    rows.toSorted((a, b) => a.position - b.position),
    (row) => row.resource,
  )
  return (node) => byResource.get(node)?.map((row) => row.entry) ?? []
}

// Few names, so that things meet: one name begins another, and users and groups share ids.
const id = fc.constantFrom('a', 'ab', 'b')
const segment = fc.constantFrom('a', 'ab', 'workspaces')
const shallow = fc.array(segment, { maxLength: 3 })
const deep = fc.array(segment, { maxLength: 12 })
const path = fc
  .oneof({ weight: 4, arbitrary: shallow }, { weight: 1, arbitrary: deep })
  .map((names): ResourcePath => `/${names.join('/')}`)
const permission = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Permission>('view', 'terminal', '*') },
  { weight: 1, arbitrary: fc.constantFrom(...permissions) },
)
const principal: fc.Arbitrary<Principal> = fc.oneof(
  fc.constant<Principal>({ kind: 'everyone' }),
  fc.constant<Principal>({ kind: 'authenticated' }),
  id.map((id): Principal => ({ kind: 'user', id })),
  id.map((id): Principal => ({ kind: 'group', id })),
)
const entry: fc.Arbitrary<AclEntry> = fc.record({
  action: fc.constantFrom('allow', 'deny'),
  principal,
  permission,
})
/** One list of rows in no order; a position is taken once on each resource. */
const rows: fc.Arbitrary<Row[]> = fc.uniqueArray(
  fc.record({ resource: path, position: fc.integer({ min: 0, max: 20 }), entry }),
  { maxLength: 25, selector: (row) => `${row.resource} ${row.position}` },
)
const subject: fc.Arbitrary<Subject> = fc.record({
  userId: id,
  groupIds: fc.uniqueArray(id).map((ids) => new Set(ids)),
})

test('any tree decides as a search through all its rows would, by the same entry', () => {
  const reached = { allow: 0, deny: 0, none: 0 }
  fc.assert(
    fc.property(subject, permission, path, rows, (subject, permission, resource, rows) => {
      const expected = judge(subject, permission, resource, rows)
      const decision = decide(subject, permission, resource, entriesOf(rows))
      reached[expected?.action ?? 'none']++
      expect(decision.because).toBe(expected)
      expect(decision.allowed).toBe(expected?.action === 'allow')
    }),
    { numRuns: RUNS },
  )
  // Guards the generators: trees in which nothing meets would prove nothing.
  for (const count of Object.values(reached)) expect(count).toBeGreaterThan(RUNS / 20)
})

test('the list of permissions says what single decisions say', () => {
  fc.assert(
    fc.property(subject, path, rows, (subject, resource, rows) => {
      const expected = permissions.filter((word) => judge(subject, word, resource, rows)?.action === 'allow')
      expect(permissionsOn(subject, resource, entriesOf(rows))).toEqual(expected)
    }),
    { numRuns: RUNS / 20 },
  )
})

test('an entry behind a matching one changes nothing', () => {
  fc.assert(
    fc.property(subject, permission, path, rows, entry, (subject, permission, resource, rows, late) => {
      const before = decide(subject, permission, resource, entriesOf(rows))
      fc.pre(before.because !== null)
      const place = rows.find((row) => row.entry === before.because)?.resource ?? '/'
      const after = [...rows, { resource: place, position: 1000, entry: late }]
      expect(decide(subject, permission, resource, entriesOf(after))).toEqual(before)
    }),
    { numRuns: RUNS / 4 },
  )
})
