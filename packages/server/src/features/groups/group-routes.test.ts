import { randomUUID } from 'node:crypto'
import { systemAgent } from '@svc/protocol/system-agent'
import { describe, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const ROLE_NAME = 'owners-c2a1d0aa-6a1c-4f7e-9d55-000000000001'
const NOT_FOUND = [404, { detail: 'Group not found' }]
const TAKEN = [409, { detail: 'A group with this name already exists' }]

const create = async (server: AccountsServer, name: string) =>
  field(await succeed(server.admin.post('/groups', { name })), 'id')

async function createRoleGroup(server: AccountsServer): Promise<string> {
  const id = randomUUID()
  const row = { id, name: ROLE_NAME, description: null, source: 'workspace-role', created_at: 0 } as const
  await server.storage.db.insertInto('user_groups').values(row).execute()
  return id
}

const stored = (server: AccountsServer, id: string) =>
  server.storage.db
    .selectFrom('user_groups')
    .select(['name', 'description'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

/** What every change is recorded with, beside its detail. */
const rows = (server: AccountsServer) =>
  server.storage.db
    .selectFrom('audit_events')
    .select(['event', 'actor_email', 'target_type', 'target_id', 'detail', 'method'])
    .where('event', 'like', 'group.%')
    .orderBy('id')
    .execute()

test('a group is created, changed and deleted, and each change is recorded', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const created = await admin.post('/groups', { name: '  designers ', description: 'Draw things', colour: 'red' })
  const id = field(created, 'id')
  expect([created.status, created.json]).toEqual([
    200,
    { id, name: 'designers', description: 'Draw things', source: 'manual', created_at: '2026-01-01 00:00:00' },
  ])
  const changed = await admin.patch(`/groups/${id}`, { name: 'artists' })
  expect([changed.status, changed.json]).toEqual([200, { status: 'updated' }])
  expect(await stored(server, id)).toEqual({ name: 'artists', description: 'Draw things' })
  const deleted = await admin.delete(`/groups/${id}`)
  expect([deleted.status, deleted.json]).toEqual([200, { status: 'deleted' }])
  expect([(await admin.delete(`/groups/${id}`)).status, await server.audit('group.delete')]).toEqual([
    404,
    [{ name: 'artists' }],
  ])
  const same = { actor_email: ADMIN.email, target_type: 'group', target_id: id }
  const written = (await rows(server)).map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) }))
  expect(written).toEqual([
    { ...same, event: 'group.create', method: 'POST', detail: { name: 'designers' } },
    { ...same, event: 'group.update', method: 'PATCH', detail: { name: 'artists', description: 'Draw things' } },
    { ...same, event: 'group.delete', method: 'DELETE', detail: { name: 'artists' } },
  ])
})

test('a description can be set and taken away, and null leaves it alone', async () => {
  await using server = await startAccounts()
  const id = await create(server, 'designers')
  expect((await stored(server, id)).description).toBeNull()
  await succeed(server.admin.patch(`/groups/${id}`, { description: 'Draw things' }))
  await succeed(server.admin.patch(`/groups/${id}`, { name: 'designers', description: null }))
  expect((await stored(server, id)).description).toBe('Draw things')
  await succeed(server.admin.patch(`/groups/${id}`, { description: '' }))
  expect((await stored(server, id)).description).toBeNull()
})

test('a group needs a name that shows, and one that nobody has', async () => {
  await using server = await startAccounts()
  const blank = await server.admin.post('/groups', { name: ' \t ' })
  expect([blank.status, blank.json]).toMatchObject([422, { detail: [{ loc: ['body', 'name'] }] }])
  for (const name of ['admins', 'members', ' admins ']) {
    const answer = await server.admin.post('/groups', { name })
    expect([answer.status, answer.json]).toMatchObject(TAKEN)
  }
  expect(await server.audit('group.create')).toEqual([])
})

test('the name of a role group is for its workspace, whether or not it exists', async () => {
  await using server = await startAccounts()
  const id = await create(server, 'designers')
  expect((await server.admin.post('/groups', { name: ROLE_NAME })).status).toBe(400)
  expect((await server.admin.patch(`/groups/${id}`, { name: ROLE_NAME })).status).toBe(400)
  expect((await server.admin.post('/groups', { name: 'owners-club' })).status).toBe(200)
})

test('admins keeps its name, and may be described', async () => {
  await using server = await startAccounts()
  const path = `/groups/${await server.groupId('admins')}`
  expect((await server.admin.patch(path, { name: 'staff' })).status).toBe(400)
  expect((await server.admin.delete(path)).status).toBe(400)
  const other = await create(server, 'designers')
  expect((await server.admin.patch(`/groups/${other}`, { name: 'admins' })).status).toBe(400)
  expect(await server.audit('group.update')).toEqual([])
  await succeed(server.admin.patch(path, { name: 'admins', description: 'The four of us' }))
  expect(await server.audit('group.update')).toEqual([{ name: 'admins', description: 'The four of us' }])
})

test('a role group keeps its name, and may be described and deleted', async () => {
  await using server = await startAccounts()
  const id = await createRoleGroup(server)
  expect((await server.admin.patch(`/groups/${id}`, { name: 'bosses' })).status).toBe(400)
  await succeed(server.admin.patch(`/groups/${id}`, { name: ROLE_NAME, description: 'Bosses' }))
  expect(await stored(server, id)).toEqual({ name: ROLE_NAME, description: 'Bosses' })
  await succeed(server.admin.delete(`/groups/${id}`))
})

test('a change must change something, of a group that exists, to a name that is free', async () => {
  await using server = await startAccounts()
  const id = await create(server, 'designers')
  for (const body of [{}, { name: null }, { name: null, description: null }, { colour: 'red' }]) {
    const answer = await server.admin.patch(`/groups/${id}`, body)
    expect([answer.status, answer.json]).toMatchObject([400, { detail: 'No fields to update' }])
  }
  const unknown = await server.admin.patch(`/groups/${randomUUID()}`, { name: 'artists' })
  expect([unknown.status, unknown.json]).toMatchObject(NOT_FOUND)
  const taken = await server.admin.patch(`/groups/${id}`, { name: 'members' })
  expect([taken.status, taken.json]).toMatchObject(TAKEN)
  expect((await server.admin.patch(`/groups/${id}`, { name: ' ' })).status).toBe(422)
})

test('members are added once, listed by address, and removed', async () => {
  await using server = await startAccounts()
  const id = await create(server, 'designers')
  const zoe = await server.person('zoe')
  const ann = await server.person('ann')
  const path = `/groups/${id}/members`
  for (const { id: user_id } of [zoe, ann, ann]) {
    const added = await server.admin.post(path, { user_id })
    expect([added.status, added.json]).toEqual([200, { status: 'added' }])
  }
  expect((await server.admin.get(path)).json).toEqual([
    { id: ann.id, email: 'ann@example.com', handle: 'ann', source: 'manual' },
    { id: zoe.id, email: 'zoe@example.com', handle: 'zoe', source: 'manual' },
  ])
  const removed = await server.admin.delete(`${path}/${zoe.id}`)
  expect([removed.status, removed.json]).toEqual([200, { status: 'removed' }])
  const again = await server.admin.delete(`${path}/${zoe.id}`)
  expect([again.status, again.json]).toMatchObject([404, { detail: 'User is not a member of this group' }])
  expect(await server.audit('group.member.add')).toEqual([{ user_id: zoe.id }, { user_id: ann.id }])
  expect(await server.audit('group.member.remove')).toEqual([{ user_id: zoe.id }])
  expect((await rows(server)).at(-1)).toMatchObject({ target_type: 'group', target_id: id })
})

test('only people who exist can be members, of groups that exist', async () => {
  await using server = await startAccounts()
  const path = `/groups/${await create(server, 'designers')}/members`
  const unknown = await server.admin.post(path, { user_id: randomUUID() })
  expect([unknown.status, unknown.json]).toMatchObject([404, { detail: 'User not found' }])
  expect((await server.admin.post(path, { user_id: systemAgent.id })).status).toBe(400)
  expect((await server.admin.post(path, {})).status).toBe(422)
  expect((await server.admin.get(path)).json).toEqual([])
  const nowhere = `/groups/${randomUUID()}/members`
  const answers = [
    await server.admin.get(nowhere),
    await server.admin.post(nowhere, { user_id: server.admin.id }),
    await server.admin.delete(`${nowhere}/${server.admin.id}`),
    await server.admin.delete(`/groups/${randomUUID()}`),
  ]
  for (const { status, json } of answers) expect([status, json]).toMatchObject(NOT_FOUND)
})

test('a membership counts at the next request of that person, and so does its end', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const path = `/groups/${await server.groupId('admins')}/members`
  expect((await ann.get(path)).status).toBe(403)
  await succeed(server.admin.post(path, { user_id: ann.id }))
  expect((await ann.get(path)).status).toBe(200)
  await succeed(server.admin.delete(`${path}/${ann.id}`))
  expect((await ann.get(path)).status).toBe(403)
})

test('everything but the list needs manage-groups', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const path = `/groups/${await create(server, 'designers')}`
  const answers = [
    await ann.post('/groups', { name: 'artists' }),
    await ann.patch(path, { name: 'artists' }),
    await ann.delete(path),
    await ann.get(`${path}/members`),
    await ann.post(`${path}/members`, { user_id: ann.id }),
    await ann.delete(`${path}/members/${ann.id}`),
    await ann.delete(`/groups/${randomUUID()}`),
  ]
  for (const { status, json } of answers) expect([status, json]).toMatchObject([403, { detail: 'Permission denied' }])
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: groups`, () => {
    const databases = useDatabases(kind)

    test('of two groups created at once under one name, one is', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const answers = await Promise.all([1, 2, 3, 4].map(() => server.admin.post('/groups', { name: 'designers' })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
      expect(await server.audit('group.create')).toEqual([{ name: 'designers' }])
    })

    test('a deleted group takes its access-control entries along, and its members lose at once what it granted', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const id = await create(server, 'helpers')
      await succeed(server.admin.post(`/groups/${id}/members`, { user_id: ann.id }))
      const grants = [
        { action: 1, principal_type: 2, group_id: id, permission: 'manage-groups' },
        { action: 1, principal_type: 2, group_id: await server.groupId('admins'), permission: 'manage-groups' },
        { action: 0, principal_type: 0, system_principal: 'Everyone', permission: '*' },
      ]
      await succeed(server.admin.put('/acl/resource?resource=/groups', grants))
      expect((await ann.get(`/groups/${id}/members`)).status).toBe(200)
      await succeed(server.admin.delete(`/groups/${id}`))
      expect((await ann.get(`/groups/${id}/members`)).status).toBe(403)
      const entries = server.storage.db.selectFrom('acl_entries').select('permission').where('group_id', '=', id)
      expect(await entries.execute()).toEqual([])
      expect((await server.admin.get(`/groups/${await server.groupId('members')}/members`)).status).toBe(200)
    })

    test('text that is no id finds nothing', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      expect((await server.admin.delete('/groups/%00')).status).toBe(400)
      expect((await server.admin.delete('/groups/no-such-group')).status).toBe(404)
    })
  })
}

test('who manages groups cannot join one that may do more than they may', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const clerks = field(await succeed(admin.post('/groups', { name: 'clerks' })), 'id')
  const entries = (await succeed(admin.get('/acl/resource?resource=/groups'))).json as object[]
  const allow = { action: 1, principal_type: 2, permission: 'manage-groups', group_id: clerks }
  await succeed(admin.put('/acl/resource?resource=/groups', [allow, ...entries]))
  const clerk = await server.person('clerk', { groups: ['clerks'] })
  const ann = await server.person('ann')
  const admins = await server.groupId('admins')

  expect((await clerk.post(`/groups/${admins}/members`, { user_id: clerk.id })).status).toBe(403)
  expect((await clerk.delete(`/groups/${admins}/members/${admin.id}`)).status).toBe(403)
  const owners = await server.storage.transaction((tx) => server.app.groups.createRoleGroup(tx, 'owners', randomUUID()))
  expect((await clerk.post(`/groups/${owners.id}/members`, { user_id: clerk.id })).status).toBe(403)
  await succeed(admin.post(`/groups/${owners.id}/members`, { user_id: ann.id }))
  await succeed(clerk.post(`/groups/${clerks}/members`, { user_id: ann.id }))
  const book = field(await succeed(clerk.post('/groups', { name: 'book club' })), 'id')
  await succeed(clerk.post(`/groups/${book}/members`, { user_id: ann.id }))
  await succeed(clerk.delete(`/groups/${book}`))
})

/** Somebody who may manage groups and nothing else, by an entry ahead of all others. */
async function clerkOf(server: AccountsServer): Promise<Person> {
  const { admin } = server
  const clerks = field(await succeed(admin.post('/groups', { name: 'clerks' })), 'id')
  const entries = (await succeed(admin.get('/acl/resource?resource=/groups'))).json as object[]
  const allow = { action: 1, principal_type: 2, permission: 'manage-groups', group_id: clerks }
  await succeed(admin.put('/acl/resource?resource=/groups', [allow, ...entries]))
  return server.person('clerk', { groups: ['clerks'] })
}

test('nor one that may do more in all workspaces', async () => {
  await using server = await startAccounts()
  const clerk = await clerkOf(server)
  const operators = field(await succeed(server.admin.post('/groups', { name: 'operators' })), 'id')
  const entries = (await succeed(server.admin.get('/acl/resource?resource=/workspaces'))).json as object[]
  const allow = { action: 1, principal_type: 2, permission: 'terminal', group_id: operators }
  await succeed(server.admin.put('/acl/resource?resource=/workspaces', [allow, ...entries]))
  expect((await clerk.post(`/groups/${operators}/members`, { user_id: clerk.id })).status).toBe(403)
})

test('nor leave one that keeps them from something, nor touch the group of everybody', async () => {
  await using server = await startAccounts()
  const clerk = await clerkOf(server)
  const interns = field(await succeed(server.admin.post('/groups', { name: 'interns' })), 'id')
  await succeed(server.admin.post(`/groups/${interns}/members`, { user_id: clerk.id }))
  const entries = (await succeed(server.admin.get('/acl/resource?resource=/workspaces'))).json as object[]
  const deny = { action: 0, principal_type: 2, permission: 'create-workspace', group_id: interns }
  await succeed(server.admin.put('/acl/resource?resource=/workspaces', [deny, ...entries]))
  const members = await server.groupId('members')
  const attempts = [
    clerk.delete(`/groups/${interns}/members/${clerk.id}`),
    clerk.delete(`/groups/${interns}`),
    clerk.patch(`/groups/${interns}`, { name: 'others' }),
    clerk.patch(`/groups/${members}`, { name: 'others' }),
    clerk.delete(`/groups/${members}`),
  ]
  for (const attempt of attempts) expect((await attempt).status).toBe(403)
})

test.each(['Admins', 'ＡＤＭＩＮＳ', 'MEMBERS'])(
  'no group is named %s, which looks like a built-in one',
  async (name) => {
    await using server = await startAccounts()
    expect((await server.admin.post('/groups', { name })).status).toBe(400)
  },
)
