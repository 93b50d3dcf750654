import { type Permission, permissions } from '@svc/protocol/permissions'
import { expect, test } from 'vitest'
import { type Need, needsNamed } from '../../kernel/route.ts'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { staticResources } from './resource-path.ts'

const on = (resource: string) => `/acl/resource?resource=${encodeURIComponent(resource)}`
const about = (resource: string) => `/my-permissions?resource=${encodeURIComponent(resource)}`
const groupEntry = (id: string, action: 0 | 1, permission: Permission) => ({
  action,
  principal_type: 2,
  group_id: id,
  permission,
})

type Rights = Partial<Record<(typeof staticResources)[number], Permission[]>>

/** What the seeded entries come to. A resource on which nothing is allowed is not mentioned. */
const ofMember: Rights = {
  '/': ['view'],
  '/workspaces': ['view', 'create-workspace'],
  '/users': ['search-users'],
  '/volumes': ['view'],
  '/images': ['view', 'view-images'],
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
}

const rightsOf = async (person: Person, path = '/my-permissions'): Promise<unknown> =>
  Reflect.get(Object((await succeed(person.get(path))).json), 'permissions')

test('an administrator is told who they are, their groups and what they may do, in the order of the contract', async () => {
  await using server = await startAccounts()
  const answer = await server.admin.get('/my-permissions')
  expect([answer.status, answer.json]).toEqual([
    200,
    {
      user_id: server.admin.id,
      email: server.admin.email,
      groups: [
        { id: await server.groupId('admins'), name: 'admins', description: expect.any(String) },
        { id: await server.groupId('members'), name: 'members', description: expect.any(String) },
      ],
      permissions: ofAdmin,
      is_admin: true,
    },
  ])
  const keys = Object.keys(Object(await rightsOf(server.admin)))
  expect(keys).toEqual([...staticResources])
})

test('a member is told less, and a description that is not there is null', async () => {
  await using server = await startAccounts()
  await succeed(server.admin.post('/groups', { name: 'choir' }))
  const ann = await server.person('ann', { groups: ['choir'] })
  expect((await succeed(ann.get('/my-permissions'))).json).toMatchObject({
    user_id: ann.id,
    email: ann.email,
    groups: [{ name: 'choir', description: null }, { name: 'members' }],
    permissions: ofMember,
    is_admin: false,
  })
  expect(Object.keys(Object(await rightsOf(ann)))).toEqual(['/', '/workspaces', '/users', '/volumes', '/images'])
})

test('an answer about one resource holds that one, or nothing', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const cases: [string, object][] = [
    ['/users', { '/users': ['search-users'] }],
    ['/', { '/': ['view'] }],
    ['/workspaces/a/files', { '/workspaces/a/files': ['view', 'create-workspace'] }],
    ['/acl', {}],
    ['/admin', { '/admin': ['view'] }],
    ['/users/a', { '/users/a': ['search-users'] }],
    ['', {}],
    ['users', {}],
    ['/users/', {}],
    ['/workspaces/../users', {}],
    [`/workspaces/${'x'.repeat(300)}`, {}],
  ]
  for (const [resource, rights] of cases) {
    expect([resource, await rightsOf(ann, about(resource))]).toEqual([resource, rights])
  }
})

test('an Allow of * on the workspaces shows the whole vocabulary there, and nothing of it elsewhere', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const entry = { action: 1, principal_type: 1, user_id: ann.id, permission: '*' }
  await succeed(server.admin.put(on('/workspaces'), [entry]))
  expect(await rightsOf(ann)).toEqual({ ...ofMember, '/workspaces': [...permissions] })
  expect(await rightsOf(ann, about('/workspaces/a'))).toEqual({ '/workspaces/a': [...permissions] })
})

/** Asks every route that needs a permission on a resource that always exists, and compares with what is expected. */
async function expectDoors(server: AccountsServer, person: Person, rights: Rights): Promise<void> {
  const rows = server.app.routes.flatMap(({ method, path, needs }) =>
    typeof needs === 'string' ? [] : [{ method, path, needs }],
  )
  expect(rows.length).toBeGreaterThan(20)
  for (const { method, path, needs } of rows) {
    // An id that nobody has and a body that fits nothing: what is not refused at the door does no harm inside.
    const url = path.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000')
    const answer = await server.request(method, url, {
      headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: '7' }),
    })
    const held = new Map<string, readonly string[]>(Object.entries(rights))
    const holds = ({ permission, on }: Need) => held.get(on)?.includes(permission) ?? false
    const granted = 'anyOf' in needs ? needs.anyOf.some(holds) : needsNamed(needs).every(holds)
    const refused = answer.status === 403 && answer.text.includes('Permission denied')
    expect([method, path, refused]).toEqual([method, path, !granted])
  }
}

test('an Allow of manage-users ahead of the Deny row hands a group the users and nothing else', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const helpdesk = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
  const hal = await server.person('hal', { groups: ['helpdesk'] })
  const ann = await server.person('ann')
  const seeded = (await succeed(admin.get(on('/users')))).json as object[]
  const row = groupEntry(helpdesk, 1, 'manage-users')
  for (const person of [hal, ann]) await expectDoors(server, person, ofMember)

  await succeed(admin.put(on('/users'), [...seeded, row]))
  expect(await rightsOf(hal)).toEqual(ofMember)
  await expectDoors(server, hal, ofMember)

  await succeed(admin.put(on('/users'), seeded.toSpliced(2, 0, row)))
  const ofHelpdesk: Rights = { ...ofMember, '/users': ['manage-users', 'search-users'] }
  expect(await rightsOf(hal)).toEqual(ofHelpdesk)
  await expectDoors(server, hal, ofHelpdesk)
  for (const resource of staticResources) {
    const expected = ofHelpdesk[resource] ? { [resource]: ofHelpdesk[resource] } : {}
    expect(await rightsOf(hal, about(resource))).toEqual(expected)
  }
  await succeed(hal.post('/users', { email: 'new@example.com', password: 'good enough for a helpdesk' }))
  expect(await rightsOf(ann)).toEqual(ofMember)
  await expectDoors(server, ann, ofMember)
  expect(await rightsOf(admin)).toEqual(ofAdmin)
})

test('a right that is taken away is gone at the next request, and one that is given is there', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const helpdesk = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
  const hal = await server.person('hal', { groups: ['helpdesk'] })
  const seeded = (await succeed(admin.get(on('/users')))).json as object[]
  const given = [groupEntry(helpdesk, 1, 'manage-users'), ...seeded]
  for (let round = 0; round < 5; round++) {
    expect((await hal.get('/users')).status).toBe(403)
    await succeed(admin.put(on('/users'), given))
    expect((await hal.get('/users')).status).toBe(200)
    await succeed(admin.put(on('/users'), seeded))
  }
  await succeed(admin.put(on('/users'), given))
  await succeed(admin.delete(`/groups/${helpdesk}/members/${hal.id}`))
  expect((await hal.get('/users')).status).toBe(403)
})

test('only administrators create workspaces when a Deny for members stands ahead of their Allow', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const [ofAdmins, ofMembers] = (await succeed(server.admin.get(on('/workspaces')))).json as object[]
  const row = groupEntry(await server.groupId('members'), 0, 'create-workspace')
  await succeed(server.admin.put(on('/workspaces'), [ofAdmins, row, ofMembers]))
  expect(await rightsOf(ann)).toEqual({ ...ofMember, '/workspaces': ['view'] })
  expect(await rightsOf(server.admin)).toEqual(ofAdmin)
})
