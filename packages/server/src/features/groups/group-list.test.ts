import { randomUUID } from 'node:crypto'
import { roleGroupDescription, roleGroupName } from '@svc/protocol/roles'
import { describe, expect, test } from 'vitest'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const WORKSPACE = 'c2a1d0aa-6a1c-4f7e-9d55-000000000001'
const OWNERS = roleGroupName('owners', WORKSPACE)

/** As a workspace makes it when it is created. */
async function addRoleGroup(server: AccountsServer): Promise<string> {
  const id = randomUUID()
  const description = roleGroupDescription('owners', WORKSPACE)
  const row = { id, name: OWNERS, description, source: 'workspace-role', created_at: 0 } as const
  await server.storage.db.insertInto('user_groups').values(row).execute()
  return id
}

async function make(server: AccountsServer, ...names: string[]): Promise<void> {
  for (const name of names) {
    server.clock.advance(1000)
    await succeed(server.admin.post('/groups', { name }))
  }
}

async function page(person: Pick<Person, 'get'>, query: string) {
  const answer = await succeed(person.get(`/groups${query}`))
  return answer.json as { groups: { name: string; source: string }[]; page: number; page_size: number; total: number }
}

const namesFor = async (person: Pick<Person, 'get'>, query: string) =>
  (await page(person, query)).groups.map(({ name }) => name)

test('groups are listed by name, ten on a page, with the fields of the contract', async () => {
  await using server = await startAccounts()
  await make(server, ...'abcdefghij'.split('').map((letter) => `team ${letter}`))
  const first = await page(server.admin, '')
  expect(first).toMatchObject({ page: 1, page_size: 10, total: 12 })
  expect(first.groups).toHaveLength(10)
  expect(first.groups[0]).toEqual({
    id: await server.groupId('admins'),
    name: 'admins',
    description: 'Run this installation',
    source: 'manual',
    created_at: '2026-01-01 00:00:00',
  })
  expect(await namesFor(server.admin, '?page=2')).toEqual(['team i', 'team j'])
  expect(await namesFor(server.admin, '?page=3')).toEqual([])
})

test('a page out of bounds is brought into them, and what is no number is refused', async () => {
  await using server = await startAccounts()
  const farAway = '?page=99999999999999999999&page_size=1e9'
  expect(await page(server.admin, farAway)).toEqual({ groups: [], page: 1_000_000_000, page_size: 200, total: 2 })
  expect(await page(server.admin, '?page=-3&page_size=0')).toMatchObject({ page: 1, page_size: 1 })
  const refused = await server.admin.get('/groups?page=first')
  expect([refused.status, refused.json]).toMatchObject([422, { detail: [{ loc: ['query', 'page'] }] }])
})

test('groups sort by name or age, both ways; an unknown wish counts as none', async () => {
  await using server = await startAccounts()
  await make(server, 'zebras', 'bears')
  expect(await namesFor(server.admin, '?sort=name&order=desc')).toEqual(['zebras', 'members', 'bears', 'admins'])
  expect((await namesFor(server.admin, '?sort=created')).slice(2)).toEqual(['zebras', 'bears'])
  expect((await namesFor(server.admin, '?sort=created&order=desc')).slice(0, 2)).toEqual(['bears', 'zebras'])
  expect(await namesFor(server.admin, '?sort=colour&order=up')).toEqual(['admins', 'bears', 'members', 'zebras'])
})

test('groups of the same age come in the order of their ids, turned round with the rest', async () => {
  await using server = await startAccounts()
  for (const name of ['x', 'y', 'z']) await succeed(server.admin.post('/groups', { name }))
  const up = await namesFor(server.admin, '?sort=created')
  expect(await namesFor(server.admin, '?sort=created&order=desc')).toEqual(up.toReversed())
  expect(
    [
      await namesFor(server.admin, '?sort=created&page_size=3'),
      await namesFor(server.admin, '?sort=created&page_size=3&page=2'),
    ].flat(),
  ).toEqual(up)
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: searching groups`, () => {
    const databases = useDatabases(kind)

    test('q is a literal part of the name, whatever the case of its ASCII letters', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      await make(server, '100% sure', '100 and sure', 'snake_case', 'snakeXcase', 'back\\slash', 'Ärzte')
      const found = (q: string) => namesFor(server.admin, `?q=${encodeURIComponent(q)}`)
      expect(await found('0%')).toEqual(['100% sure'])
      expect(await found('e_c')).toEqual(['snake_case'])
      expect(await found('K\\S')).toEqual(['back\\slash'])
      expect(await found('SNAKE')).toEqual(['snakeXcase', 'snake_case'])
      expect(await found('Ä')).toEqual(['Ärzte'])
      expect(await found('ä')).toEqual([])
      expect(await found('')).toHaveLength(8)
      expect((await page(server.admin, '?q=snake&page_size=1')).total).toBe(2)
    })
  })
}

test('a source that does not exist is refused with a sentence', async () => {
  await using server = await startAccounts()
  const answer = await server.admin.get('/groups?source=nowhere')
  expect([answer.status, answer.json]).toMatchObject([422, { detail: 'source must be manual or workspace-role' }])
})

test('role groups are shown to those who manage groups, and to nobody else', async () => {
  await using server = await startAccounts()
  await addRoleGroup(server)
  const ann = await server.person('ann')
  const manual = ['admins', 'members']
  expect(await namesFor(server.admin, '')).toEqual([...manual, OWNERS])
  expect(await namesFor(server.admin, '?source=workspace-role')).toEqual([OWNERS])
  expect(await namesFor(server.admin, '?source=manual')).toEqual(manual)
  for (const query of ['', '?source=workspace-role', '?source=manual']) {
    const seen = await page(ann, query)
    expect([seen.groups.map(({ name }) => name), seen.total]).toEqual([manual, 2])
  }
  expect(await namesFor(ann, '?q=owners')).toEqual([])
})

test('a member of a role group does not see it in the list either', async () => {
  await using server = await startAccounts()
  const id = await addRoleGroup(server)
  const ann = await server.person('ann')
  await succeed(server.admin.post(`/groups/${id}/members`, { user_id: ann.id }))
  expect(await namesFor(ann, '')).not.toContain(OWNERS)
})

test('whoever joins the admins sees role groups at the next request', async () => {
  await using server = await startAccounts()
  await addRoleGroup(server)
  const ann = await server.person('ann')
  expect(await namesFor(ann, '')).not.toContain(OWNERS)
  await succeed(server.admin.post(`/groups/${await server.groupId('admins')}/members`, { user_id: ann.id }))
  expect(await namesFor(ann, '')).toContain(OWNERS)
})

test('groups are not shown to strangers', async () => {
  await using server = await startAccounts()
  expect((await server.stranger.get('/groups')).status).toBe(401)
})
