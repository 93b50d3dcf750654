import { randomUUID } from 'node:crypto'
import { systemAgent } from '@svc/protocol/system-agent'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import type { TestResponse } from '../../testing/start-http.ts'
import { type DatabaseHost, storageKinds } from '../../testing/storages.ts'

const on = (resource: string) => `/acl/resource?resource=${encodeURIComponent(resource)}`
const refusal = (answer: TestResponse) => [answer.status, Reflect.get(Object(answer.json), 'detail')]

const everyone = { principal_type: 0, system_principal: 'Everyone' }
const authenticated = { principal_type: 0, system_principal: 'Authenticated' }
const user = (id: string) => ({ principal_type: 1, user_id: id })
const group = (id: string) => ({ principal_type: 2, group_id: id })
const allow = (principal: object, permission: string) => ({ action: 1, permission, ...principal })
const deny = (principal: object, permission: string) => ({ action: 0, permission, ...principal })
const lines = (list: unknown): string[] =>
  (list as { action: number; principal: string; permission: string }[]).map(
    ({ action, principal, permission }) => `${action === 1 ? 'Allow' : 'Deny'} ${principal} ${permission}`,
  )

/** With a name that people cannot give. */
async function addGroup(server: AccountsServer, name: string, source: 'manual' | 'workspace-role'): Promise<string> {
  const id = randomUUID()
  const row = { id, name, description: null, source, created_at: 1 }
  await server.storage.transaction((tx) => tx.insertInto('user_groups').values(row).execute())
  return id
}

describe.each(storageKinds.filter(({ installed }) => installed))('$name: reading', (kind) => {
  let host: DatabaseHost
  let server: AccountsServer
  let admins: string
  beforeAll(async () => {
    host = await kind.start()
    server = await startAccounts({ database: await host.create() })
    admins = await server.groupId('admins')
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await host.stop()
  })

  test('a resource lists its entries with all seven keys, their positions and the names of their principals', async () => {
    const answer = await server.admin.get(on('/users'))
    const blank = { resource: '/users', user_id: null, group_id: null, system_principal: null }
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { ...blank, ...allow(group(admins), 'manage-users'), position: 0, principal: 'admins' },
        { ...blank, ...allow(authenticated, 'search-users'), position: 1, principal: 'Authenticated' },
        { ...blank, ...deny(everyone, '*'), position: 2, principal: 'Everyone' },
      ],
    ])
  })

  test.each(['/workspaces/nowhere', '/admin', '/users/x', 'users', '/users/', '/../users', '', '/%'])(
    '%j, where nothing is, lists nothing',
    async (resource) => {
      const answer = await server.admin.get(on(resource))
      expect([answer.status, answer.json]).toEqual([200, []])
    },
  )

  test('without a resource it is 422', async () => {
    const { status, json } = await server.admin.get('/acl/resource')
    expect([status, json]).toMatchObject([422, { detail: [{ type: 'missing', loc: ['query', 'resource'] }] }])
  })

  test('the tree lists every resource that has entries, by name', async () => {
    const answer = await server.admin.get('/acl/tree')
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { resource: '/', ace_count: 2 },
        { resource: '/acl', ace_count: 2 },
        { resource: '/events', ace_count: 2 },
        { resource: '/groups', ace_count: 2 },
        { resource: '/images', ace_count: 1 },
        { resource: '/invitations', ace_count: 2 },
        { resource: '/server', ace_count: 2 },
        { resource: '/users', ace_count: 3 },
        { resource: '/volumes', ace_count: 2 },
        { resource: '/workspaces', ace_count: 2 },
      ],
    ])
  })

  test('the entries of a group have exactly five keys, by resource and position', async () => {
    const answer = await server.admin.get(`/acl/by-principal/group/${admins}`)
    const grant = { action: 1, principal_type: 2, group_id: admins }
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { ...grant, resource: '/acl', permission: 'manage-acls' },
        { ...grant, resource: '/events', permission: 'manage-events' },
        { ...grant, resource: '/groups', permission: 'manage-groups' },
        { ...grant, resource: '/invitations', permission: 'manage-invitations' },
        { ...grant, resource: '/server', permission: 'manage-server-schedule' },
        { ...grant, resource: '/users', permission: 'manage-users' },
        { ...grant, resource: '/volumes', permission: 'view-volumes' },
        { ...grant, resource: '/volumes', permission: 'manage-volumes' },
        { ...grant, resource: '/workspaces', permission: 'create-workspace' },
      ],
    ])
  })

  test('the entries of a user have exactly five keys, and a group with such an id has none of them', async () => {
    const { id } = server.admin
    await succeed(server.admin.put(on('/images'), [allow(authenticated, 'view-images'), deny(user(id), 'view')]))
    const answer = await server.admin.get(`/acl/by-principal/user/${id}`)
    expect([answer.status, answer.json]).toEqual([
      200,
      [{ resource: '/images', action: 0, principal_type: 1, permission: 'view', user_id: id }],
    ])
    expect((await server.admin.get(`/acl/by-principal/group/${id}`)).json).toEqual([])
  })

  test.each(['user', 'group'])('the entries of a %s nobody knows are none', async (kind) => {
    for (const id of [randomUUID(), 'x', '%25']) {
      const answer = await server.admin.get(`/acl/by-principal/${kind}/${id}`)
      expect([answer.status, answer.json]).toEqual([200, []])
    }
  })

  test('somebody who may not manage entries can neither read nor write them', async () => {
    const ann = await server.person('ann')
    const calls = [
      () => ann.get('/acl/tree'),
      () => ann.get(on('/')),
      () => ann.get('/acl/resource'),
      () => ann.get(`/acl/by-principal/user/${ann.id}`),
      () => ann.get(`/acl/by-principal/group/${admins}`),
      () => ann.put(on('/acl'), [allow(user(ann.id), '*')]),
      () => ann.put(on('nonsense'), 'nonsense'),
    ]
    for (const call of calls) expect(refusal(await call())).toEqual([403, 'Permission denied'])
    for (const path of ['/acl/tree', on('/'), '/my-permissions']) {
      expect(refusal(await server.stranger.get(path))).toEqual([401, 'Not authenticated'])
    }
  })
})

describe('replacing', () => {
  let server: AccountsServer
  let admin: Person
  let admins: string
  let ownersOfA: string
  beforeAll(async () => {
    server = await startAccounts()
    admin = server.admin
    admins = await server.groupId('admins')
    ownersOfA = await addGroup(server, 'owners-a', 'workspace-role')
    const inWorkspaces = [allow(group(admins), 'create-workspace'), allow(group(admins), 'share-advanced')]
    await succeed(admin.put(on('/workspaces'), inWorkspaces))
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('the list becomes the entries, in its order, and is answered with names', async () => {
    const wanted = [
      deny(user(admin.id), 'view-images'),
      allow({ principal_type: 0, system_principal: 1 }, 'view-images'),
      allow({ ...group(admins), user_id: null, system_principal: null, position: 77, resource: '/', extra: true }, '*'),
      deny({ principal_type: 0, system_principal: 0 }, '*'),
    ]
    const answer = await admin.put(on('/images'), wanted)
    const blank = { resource: '/images', user_id: null, group_id: null, system_principal: null }
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { ...blank, ...deny(user(admin.id), 'view-images'), position: 0, principal: admin.email },
        { ...blank, ...allow(authenticated, 'view-images'), position: 1, principal: 'Authenticated' },
        { ...blank, ...allow(group(admins), '*'), position: 2, principal: 'admins' },
        { ...blank, ...deny(everyone, '*'), position: 3, principal: 'Everyone' },
      ],
    ])
    expect((await admin.get(on('/images'))).json).toEqual(answer.json)
  })

  test('what was read can be sent back as it is', async () => {
    const before = (await admin.get(on('/users'))).json
    expect((await succeed(admin.put(on('/users'), before))).json).toEqual(before)
  })

  test('an empty list clears a resource, which then is not in the tree', async () => {
    expect((await succeed(admin.put(on('/volumes'), []))).json).toEqual([])
    const tree = (await admin.get('/acl/tree')).json as { resource: string }[]
    expect(tree.map(({ resource }) => resource)).not.toContain('/volumes')
  })

  test('five hundred entries can be read and sent back, and one more cannot', async () => {
    const wanted = Array.from({ length: 500 }, (_, index) =>
      allow(user(admin.id), index % 2 ? 'view' : 'manage-volumes'),
    )
    const full = (await succeed(admin.put(on('/volumes'), wanted))).json as object[]
    expect((await succeed(admin.put(on('/volumes'), full))).json).toEqual(full)
    const answer = await admin.put(on('/volumes'), [...full, ...full.slice(0, 1)])
    expect([answer.status, answer.json]).toMatchObject([422, { detail: [{ type: 'too_long', loc: ['body'] }] }])
  })

  test('a change is on the record with its resource, the number of entries and a digest of them', async () => {
    const list = [allow(authenticated, 'view-images')]
    for (const entries of [list, [], list]) await succeed(admin.put(on('/images'), entries))
    const rows = await server.storage.db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'acl.replace')
      .orderBy('id', 'desc')
      .limit(3)
      .execute()
    const who = { actor_id: admin.id, actor_email: admin.email, method: 'PUT' }
    for (const row of rows) expect(row).toMatchObject({ ...who, target_type: 'acl', target_id: '/images' })
    const [third, second, first] = rows.map(({ detail }) => JSON.parse(detail))
    expect(first).toEqual({ entries: 1, digest: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(second).toEqual({ entries: 0, digest: expect.not.stringContaining(first.digest) })
    expect(third).toEqual(first)
  })

  test('a role group may be named on its own workspace and below it', async () => {
    for (const resource of ['/workspaces/a', '/workspaces/a/files']) {
      const answer = await succeed(admin.put(on(resource), [allow(group(ownersOfA), '*')]))
      expect(lines(answer.json)).toEqual(['Allow owners-a *'])
    }
  })

  test('a group of people with the name of a role group may be named anywhere', async () => {
    const id = await addGroup(server, 'owners-b', 'manual')
    await succeed(admin.put(on('/images'), [allow(group(id), 'view-images')]))
  })

  const wellFormed = allow(authenticated, 'view')
  const REFUSALS: [string, number, string, string, () => unknown][] = [
    ['/ without entries', 400, '/', 'Allow of view', () => []],
    ['/ without Authenticated', 400, '/', 'Allow of view', () => [allow(everyone, '*')]],
    ['/ that lets only administrators in', 400, '/', 'Allow of view', () => [allow(group(admins), '*')]],
    ['/ with a Deny ahead', 400, '/', 'Allow of view', () => [deny(everyone, '*'), allow(authenticated, 'view')]],
    ['/acl without entries', 400, '/acl', 'manage-acls', () => []],
    ['/acl for one administrator only', 400, '/acl', 'manage-acls', () => [allow(user(admin.id), '*')]],
    ['/acl with a Deny ahead', 400, '/acl', 'manage-acls', () => [deny(everyone, '*'), allow(group(admins), '*')]],
    [
      'the system agent',
      400,
      '/images',
      'Entry 1: the system agent',
      () => [wellFormed, allow(user(systemAgent.id), '*')],
    ],
    [
      'a Deny for the system agent',
      400,
      '/images',
      'Entry 0: the system agent',
      () => [deny(user(systemAgent.id), '*')],
    ],
    [
      'a role group outside workspaces',
      400,
      '/users',
      'owners-a can be named',
      () => [allow(group(ownersOfA), 'view')],
    ],
    ['a role group on all workspaces', 400, '/workspaces', 'owners-a can', () => [allow(group(ownersOfA), 'view')]],
    ['a role group of another workspace', 400, '/workspaces/b', 'owners-a', () => [allow(group(ownersOfA), 'view')]],
    ['a user nobody knows', 400, '/images', 'Entry 1: no user', () => [wellFormed, allow(user(randomUUID()), 'view')]],
    ['a user without a name', 400, '/images', 'Entry 0: no user', () => [allow(user(''), 'view')]],
    ['a group nobody knows', 400, '/images', 'Entry 0: no group', () => [allow(group(randomUUID()), 'view')]],
    ['a group in the place of a user', 400, '/images', 'Entry 0: no user', () => [allow(user(admins), 'view')]],
    ['a user in the place of a group', 400, '/images', 'Entry 0: no group', () => [allow(group(admin.id), 'view')]],
    ['no user', 400, '/images', 'needs user_id', () => [allow({ principal_type: 1 }, 'view')]],
    ['no group', 400, '/images', 'needs group_id', () => [allow({ principal_type: 2, group_id: null }, 'view')]],
    ['no system principal', 400, '/images', 'needs system_principal', () => [allow({ principal_type: 0 }, 'view')]],
    [
      'a group id for a user',
      400,
      '/images',
      'needs user_id',
      () => [allow({ principal_type: 1, group_id: admins }, 'view')],
    ],
    [
      'a user id for a group',
      400,
      '/images',
      'needs group_id',
      () => [allow({ principal_type: 2, user_id: admin.id }, 'view')],
    ],
    ['a user id for everyone', 400, '/images', 'no other', () => [allow({ ...everyone, user_id: admin.id }, 'view')]],
    ['a user and a group', 400, '/images', 'no other', () => [allow({ ...user(admin.id), group_id: admins }, 'view')]],
    ['/admin', 400, '/admin', 'resource must be', () => [wellFormed]],
    ['one user as a resource', 400, `/users/${systemAgent.id}`, 'resource must be', () => [wellFormed]],
    ['a path with a slash at its end', 400, '/users/', 'resource must be', () => [wellFormed]],
    ['a path that leads up', 400, '/workspaces/../acl', 'resource must be', () => []],
    ['a path with an empty name', 400, '//acl', 'resource must be', () => []],
    ['a path in other letters', 400, '/Acl', 'resource must be', () => []],
    ['no path', 400, '', 'resource must be', () => []],
    ['an action that is none', 422, '/images', 'action', () => [{ ...wellFormed, action: 2 }]],
    ['an action in words', 422, '/images', 'action', () => [{ ...wellFormed, action: 'allow' }]],
    ['a truth for an action', 422, '/images', 'action', () => [{ ...wellFormed, action: true }]],
    ['no action', 422, '/images', 'action', () => [{ ...wellFormed, action: undefined }]],
    ['a fourth type of principal', 422, '/images', 'principal_type', () => [{ ...wellFormed, principal_type: 3 }]],
    ['a negative type of principal', 422, '/images', 'principal_type', () => [{ ...wellFormed, principal_type: -1 }]],
    ['a third system principal', 422, '/images', 'system_principal', () => [{ ...wellFormed, system_principal: 2 }]],
    [
      'another system principal',
      422,
      '/images',
      'system_principal',
      () => [{ ...wellFormed, system_principal: 'Nobody' }],
    ],
    ['a permission nobody knows', 422, '/images', 'permission', () => [allow(authenticated, 'fly')]],
    ['an empty permission', 422, '/images', 'permission', () => [allow(authenticated, '')]],
    ['a permission in other letters', 422, '/images', 'permission', () => [allow(authenticated, 'View')]],
    ['a number for a user', 422, '/images', 'user_id', () => [allow({ principal_type: 1, user_id: 7 }, 'view')]],
    ['one entry without a list', 422, '/images', 'list', () => wellFormed],
    ['no body', 422, '/images', 'body', () => undefined],
    ['a null', 422, '/images', 'list', () => null],
    ['a list of nothing', 422, '/images', 'object', () => [null]],
  ]
  test.each(REFUSALS)('%s is refused with %i and changes nothing', async (_, status, resource, words, body) => {
    const before = (await admin.get('/acl/tree')).json
    const records = (await server.audit('acl.replace')).length
    const answer = await admin.put(on(resource), body())
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)])
    expect((await admin.get('/acl/tree')).json).toEqual(before)
    expect(await server.audit('acl.replace')).toHaveLength(records)
  })

  test('what the rules do not name may be set, a list that denies everything too', async () => {
    for (const resource of ['/groups', '/events', '/server', '/workspaces/a']) {
      await succeed(admin.put(on(resource), [deny(everyone, '*')]))
    }
    const back = [allow(group(admins), '*'), allow(authenticated, 'view'), deny(everyone, '*')]
    expect(lines((await succeed(admin.put(on('/'), back))).json)).toEqual([
      'Allow admins *',
      'Allow Authenticated view',
      'Deny Everyone *',
    ])
    // Now / gives administrators what /acl gave them, so /acl may be empty.
    await succeed(admin.put(on('/acl'), []))
    expect((await admin.get('/acl/tree')).status).toBe(200)
  })
})

describe('the entries of a workspace', () => {
  const refused = [403, 'share-advanced permission required on /workspaces/a']

  test('need share-advanced on that workspace as well, at any depth below it', async () => {
    await using server = await startAccounts()
    const { admin } = server
    for (const resource of ['/workspaces/a', '/workspaces/a/files', '/workspaces/a/b/c']) {
      expect(refusal(await admin.put(on(resource), []))).toEqual(refused)
    }
    expect((await admin.put(on('/workspaces/a'), [{}])).status).toBe(422)
    expect((await admin.put(on('/workspaces'), [])).status).toBe(200)
    expect(await server.audit('acl.replace')).toHaveLength(1)

    const onA = [{ resource: '/workspaces/a', position: 0, action: 'allow', principal_kind: 'user' } as const]
    const rows = onA.map((row) => ({ ...row, user_id: admin.id, group_id: null, permission: 'share-advanced' }))
    await server.storage.transaction((tx) => tx.insertInto('acl_entries').values(rows).execute())
    expect(refusal(await admin.put(on('/workspaces/ab'), []))[0]).toBe(403)
  })

  test('share-advanced alone does not open the administration', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.put(on('/workspaces'), [allow(user(ann.id), 'share-advanced')]))
    expect(refusal(await ann.put(on('/workspaces/a'), []))).toEqual([403, 'Permission denied'])
    expect(refusal(await server.admin.put(on('/workspaces/a'), []))).toEqual(refused)
  })

  test('a Deny of share-advanced on the workspace decides before an Allow above it', async () => {
    await using server = await startAccounts()
    const { admin } = server
    await succeed(admin.put(on('/workspaces'), [allow(user(admin.id), 'share-advanced')]))
    await succeed(admin.put(on('/workspaces/a'), [deny(user(admin.id), 'share-advanced')]))
    expect(refusal(await admin.put(on('/workspaces/a'), []))).toEqual(refused)
    expect((await admin.put(on('/workspaces/b'), [])).status).toBe(200)
  })
})

test('entries that went with their user or group leave the others in their order, numbered without a gap', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const ann = await server.person('ann')
  const helpdesk = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
  const list = [
    allow(group(helpdesk), 'view'),
    allow(user(ann.id), 'view'),
    allow(user(admin.id), 'view'),
    deny(everyone, '*'),
  ]
  await succeed(admin.put(on('/images'), list))
  await succeed(admin.delete(`/groups/${helpdesk}`))
  await succeed(admin.delete(`/users/${ann.id}`))
  const left = (await admin.get(on('/images'))).json as { position: number }[]
  expect(lines(left)).toEqual([`Allow ${admin.email} view`, 'Deny Everyone *'])
  expect(left.map(({ position }) => position)).toEqual([0, 1])
})

test('no two rewrites together take the tree from the administrators', async () => {
  await using server = await startAccounts()
  const { admin } = server
  const admins = await server.groupId('admins')
  const root = (await succeed(admin.get('/acl/resource?resource=/'))).json as object[]
  const everything = { action: 1, principal_type: 2, permission: '*', group_id: admins }
  await succeed(admin.put('/acl/resource?resource=/', [everything, ...root]))
  await succeed(admin.put('/acl/resource?resource=/acl', []))
  const answer = await admin.put('/acl/resource?resource=/', root)
  expect([answer.status, answer.json]).toMatchObject([
    400,
    { detail: 'The group admins must keep manage-acls on /acl' },
  ])
  expect((await admin.get('/acl/tree')).status).toBe(200)
})
