import { expect, test } from 'vitest'
import { type AccountsServer, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

/** Every call of this feature that needs `manage-users`. */
const calls: readonly ['get' | 'post' | 'patch' | 'delete', string, object?][] = [
  ['get', '/users'],
  ['get', '/users?page=1'],
  ['post', '/users', { email: 'new@example.com', password: PASSWORD }],
  ['patch', `/users/${NOBODY}`, { disabled: true }],
  ['delete', `/users/${NOBODY}`],
  ['post', `/users/${NOBODY}/unlockout`],
  ['get', `/users/${NOBODY}/sessions`],
  ['get', `/users/${NOBODY}/workspaces`],
]

test('a member can search for people and do nothing else to them', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  for (const [method, path, body] of calls) {
    const answer = await (body ? ann[method](path, body) : ann[method](path))
    expect([answer.status, answer.json], `${method} ${path}`).toMatchObject([403, { detail: 'Permission denied' }])
  }
  expect((await ann.get('/users/search?q=root')).status).toBe(200)
})

test('a stranger gets nothing at all', async () => {
  await using server = await startAccounts()
  for (const [method, path, body] of [...calls, ['get', '/users/search?q=root'] as const]) {
    const answer = await (body ? server.stranger[method](path, body) : server.stranger[method](path))
    expect([answer.status, answer.json], `${method} ${path}`).toMatchObject([401, { detail: 'Not authenticated' }])
  }
})

/** Puts an entry that lets a group manage users ahead of all others, and answers the id of the group. */
async function delegate(server: AccountsServer): Promise<string> {
  const { admin } = server
  const group = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
  const entries = (await succeed(admin.get('/acl/resource?resource=/users'))).json as object[]
  const allow = { action: 1, principal_type: 2, permission: 'manage-users', group_id: group }
  await succeed(admin.put('/acl/resource?resource=/users', [allow, ...entries]))
  return group
}

test('a group that is allowed to manage users can do so, and nothing else administrators can', async () => {
  await using server = await startAccounts()
  await delegate(server)
  const helper = await server.person('helper', { groups: ['helpdesk'] })
  const ann = await server.person('ann')

  await succeed(helper.get('/users'))
  await succeed(helper.post('/users', { email: 'new@example.com', password: PASSWORD }))
  await succeed(helper.patch(`/users/${ann.id}`, { disabled: true }))
  expect((await ann.get('/auth/me')).status).toBe(403)
  await succeed(helper.patch(`/users/${ann.id}`, { disabled: false }))
  await succeed(helper.post(`/users/${ann.id}/unlockout`))
  await succeed(helper.get(`/users/${ann.id}/sessions`))
  await succeed(helper.get(`/users/${ann.id}/workspaces`))
  await succeed(helper.delete(`/users/${ann.id}`))

  const refused = [
    await helper.post('/groups', { name: 'mine' }),
    await helper.get('/invitations'),
    await helper.get('/acl/tree'),
    await helper.put('/acl/resource?resource=/users', []),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  const rows = await server.storage.db
    .selectFrom('audit_events')
    .select(['event', 'actor_email'])
    .where('target_id', '=', ann.id)
    .where('event', 'like', 'user.%')
    .orderBy('id')
    .execute()
  expect(rows.slice(-4).map(({ event, actor_email: by }) => [event, by])).toEqual([
    ['user.update', 'helper@example.com'],
    ['user.update', 'helper@example.com'],
    ['user.unlock', 'helper@example.com'],
    ['user.delete', 'helper@example.com'],
  ])
})

test('who manages users cannot become an administrator by it', async () => {
  await using server = await startAccounts()
  await delegate(server)
  const helper = await server.person('helper', { groups: ['helpdesk'] })
  const boss = await server.person('boss', { groups: ['admins'] })
  const changes = [
    { password: 'a password I know' },
    { email: 'mine@example.com' },
    { disabled: true },
    { handle: 'x' },
  ]
  const attempts = [
    ...changes.map((change) => helper.patch(`/users/${boss.id}`, change)),
    helper.delete(`/users/${boss.id}`),
    helper.post(`/users/${boss.id}/unlockout`),
  ]
  for (const attempt of attempts) expect((await attempt).status).toBe(403)
  expect((await boss.get('/auth/me')).json).toEqual({ id: boss.id, email: boss.email, handle: 'boss' })

  const other = await server.person('other', { groups: ['helpdesk'] })
  await succeed(helper.patch(`/users/${other.id}`, { handle: 'colleague' }))
})

test('who manages users cannot take over somebody who was delegated something else', async () => {
  await using server = await startAccounts()
  await delegate(server)
  const helper = await server.person('helper', { groups: ['helpdesk'] })
  const auditor = await server.person('auditor')
  const entries = (await succeed(server.admin.get('/acl/resource?resource=/events'))).json as object[]
  const allow = { action: 1, principal_type: 1, permission: 'manage-events', user_id: auditor.id }
  await succeed(server.admin.put('/acl/resource?resource=/events', [allow, ...entries]))
  expect((await helper.patch(`/users/${auditor.id}`, { password: 'a password I know' })).status).toBe(403)
  await succeed(server.admin.patch(`/users/${auditor.id}`, { handle: 'the-auditor' }))
})

test('who leaves the group loses the right at the next request', async () => {
  await using server = await startAccounts()
  const group = await delegate(server)
  const helper = await server.person('helper', { groups: ['helpdesk'] })
  await succeed(helper.get('/users'))
  await succeed(server.admin.delete(`/groups/${group}/members/${helper.id}`))
  expect((await helper.get('/users')).status).toBe(403)
})

test('no answer holds anything of a password', async () => {
  await using server = await startAccounts()
  const created = await server.admin.post('/users', { email: 'ann@example.com', password: PASSWORD })
  const id = field(created, 'id')
  const answers = [
    created,
    await server.admin.patch(`/users/${id}`, { password: 'another good password' }),
    await server.admin.patch(`/users/${id}`, { password: 'tooshrt' }),
    await server.admin.post('/users', { email: 'ben@example.com', password: 'tooshrt' }),
    await server.admin.get('/users'),
    await server.admin.get('/users?page=1'),
    await server.admin.get('/users/search?q=ann'),
    await server.admin.get(`/users/${id}/sessions`),
  ]
  const { password_hash: hash } = await server.storage.db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  for (const secret of ['password_hash', 'pbkdf2', PASSWORD, 'another good password', 'tooshrt', String(hash)]) {
    for (const { text } of answers) expect(text).not.toContain(secret)
  }
  const trail = JSON.stringify(await server.storage.db.selectFrom('audit_events').selectAll().execute())
  for (const secret of ['pbkdf2', PASSWORD, 'another good password', 'tooshrt']) expect(trail).not.toContain(secret)
})
