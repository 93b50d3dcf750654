import { systemAgent } from '@svc/protocol/system-agent'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AccountsServer,
  ADMIN,
  PASSWORD,
  type Person,
  startAccounts,
  succeed,
} from '../../testing/start-accounts.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'
const NEXT = 'set by an administrator'
const DAY_MS = 86_400_000

async function listed(server: AccountsServer, id: string): Promise<unknown> {
  const users = (await succeed(server.admin.get('/users'))).json as { id: string }[]
  return users.find((user) => user.id === id)
}

const login = (server: AccountsServer, identifier: string, password: string) =>
  server.stranger.post('/auth/login', { identifier, password })

/** What changed, without the sign-ins that making people leaves in the trail. */
async function changes(server: AccountsServer): Promise<Record<string, unknown[]>> {
  const events = ['user.update', 'user.email.change', 'user.handle.change']
  const found = await Promise.all(events.map(async (event) => [event, await server.audit(event)] as const))
  return Object.fromEntries(found.filter(([, rows]) => rows.length > 0))
}

test('address and handle are changed at once, and the address stays as verified as it was', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  const answer = await server.admin.patch(`/users/${ann.id}`, { email: 'Anna@Example.org', handle: 'anna' })
  expect([answer.status, answer.json]).toEqual([200, { status: 'updated' }])
  expect(await listed(server, ann.id)).toMatchObject({ email: 'anna@example.org', handle: 'anna', verified: true })
  expect((await ann.get('/auth/me')).json).toEqual({ id: ann.id, email: 'anna@example.org', handle: 'anna' })
  expect(await changes(server)).toEqual({
    'user.update': [{ fields: ['email', 'handle'] }],
    'user.email.change': [{ email: 'anna@example.org', via: 'admin' }],
    'user.handle.change': [{ handle: 'anna' }],
  })
  expect((await login(server, 'ann@example.com', PASSWORD)).status).toBe(401)
  expect((await login(server, 'anna', PASSWORD)).status).toBe(200)
})

test('an unverified account stays unverified when an administrator changes its address', async () => {
  await using server = await startAccounts({ mail: true })
  const body = { email: 'ann@example.com', send_verification_email: true }
  const { id } = (await succeed(server.admin.post('/users', body))).json as { id: string }
  await succeed(server.admin.patch(`/users/${id}`, { email: 'anna@example.com' }))
  expect(await listed(server, id)).toMatchObject({ email: 'anna@example.com', verified: false })
})

test('somebody may be given the address and the handle they already have', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  await succeed(server.admin.patch(`/users/${ann.id}`, { email: 'ann@example.com', handle: 'ann' }))
  expect(await changes(server)).toEqual({ 'user.update': [{ fields: ['email', 'handle'] }] })
})

describe('a disabled account', () => {
  test('is shut out of its next request, of a refresh and of signing in', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(ann.get('/auth/me'))
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    const refusal = [403, { detail: 'Account disabled' }]
    for (const answer of [
      await ann.get('/auth/me'),
      await ann.post('/auth/refresh'),
      await login(server, 'ann', PASSWORD),
    ]) {
      expect([answer.status, answer.json]).toMatchObject(refusal)
    }
    expect(await listed(server, ann.id)).toMatchObject({ disabled: true })
    expect(await changes(server)).toEqual({ 'user.update': [{ fields: ['disabled'] }] })
    expect(await server.audit('user.disable')).toEqual([])
  })

  test('works again once it is enabled, with the sessions it had', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: false }))
    expect((await ann.get('/auth/me')).status).toBe(200)
    expect((await login(server, 'ann', PASSWORD)).status).toBe(200)
  })

  test('counts as active from the moment it is enabled, so that no sweep disables it again', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    server.clock.advance(400 * DAY_MS)
    const admin = await server.signIn(ADMIN.email, ADMIN.password)
    await succeed(admin.patch(`/users/${ann.id}`, { disabled: false }))
    const users = (await admin.get('/users?page=1&q=ann@')).json
    expect(users).toMatchObject({ users: [{ last_activity_at: '2027-02-05T00:00:00+00:00' }] })
  })

  test('an account that is not disabled is no more active for being enabled', async () => {
    await using server = await startAccounts()
    const { id } = (await succeed(server.admin.post('/users', { email: 'ann@example.com', password: PASSWORD })))
      .json as { id: string }
    await succeed(server.admin.patch(`/users/${id}`, { disabled: false }))
    expect(await listed(server, id)).toMatchObject({ last_activity_at: null })
  })
})

describe('a password set by an administrator', () => {
  test('ends every session and must be changed by its owner', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(ann.get('/auth/me'))
    await succeed(server.admin.patch(`/users/${ann.id}`, { password: NEXT }))
    const ended = await ann.get('/auth/me')
    expect([ended.status, ended.json]).toMatchObject([401, { detail: 'Token has been revoked' }])
    expect((await login(server, 'ann', PASSWORD)).status).toBe(401)
    expect((await login(server, 'ann', NEXT)).json).toMatchObject({ must_change_password: true })
    const again = await server.signIn(ann.email, NEXT)
    expect((await again.get('/auth/me')).json).toMatchObject({ detail: 'Password change required' })
    expect(await server.audit('user.password.change')).toEqual([{ via: 'self-service' }, { via: 'admin' }])
    expect((await server.audit('session.revoke')).at(-1)).toEqual({ reason: 'admin-password-set' })
    expect(await changes(server)).toEqual({ 'user.update': [{ fields: ['password'] }] })
  })

  test('need not be changed when the administrator says so', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { password: NEXT, must_change_password: false }))
    const again = await server.signIn(ann.email, NEXT)
    expect((await again.get('/auth/me')).status).toBe(200)
    expect(await changes(server)).toEqual({ 'user.update': [{ fields: ['password', 'must_change_password'] }] })
  })

  test('may follow the last one at once, but may not be one of the last ones', async () => {
    const env = { SVCD_PASSWORD_MIN_AGE_HOURS: '24', SVCD_PASSWORD_HISTORY_COUNT: '3' }
    await using server = await startAccounts({ env })
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { password: NEXT }))
    const current = await server.admin.patch(`/users/${ann.id}`, { password: NEXT })
    expect([current.status, current.json]).toMatchObject([400, { detail: 'Password must differ from the current one' }])
    const former = await server.admin.patch(`/users/${ann.id}`, { password: PASSWORD })
    expect([former.status, former.json]).toMatchObject([
      400,
      { detail: 'Password was used recently; choose another one' },
    ])
  })
})

describe('must_change_password', () => {
  test('bites at the next request of a live session, until the password is changed', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(ann.get('/auth/me'))
    await succeed(server.admin.patch(`/users/${ann.id}`, { must_change_password: true }))
    const refused = await ann.get('/auth/me')
    expect([refused.status, refused.json]).toMatchObject([403, { detail: 'Password change required' }])
    await succeed(ann.post('/auth/change-password', { current_password: PASSWORD, new_password: NEXT }))
    expect((await (await server.signIn(ann.email, NEXT)).get('/auth/me')).status).toBe(200)
  })

  test('can be taken back', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { must_change_password: true }))
    await succeed(server.admin.patch(`/users/${ann.id}`, { must_change_password: false }))
    expect((await ann.get('/auth/me')).status).toBe(200)
  })

  test.each([{ must_change_password: true }, { must_change_password: false }, { password: NEXT }])(
    '%j is refused for an account of an identity provider',
    async (body) => {
      await using server = await startAccounts()
      const ann = await server.person('ann')
      const columns = { provider: 'example-idp', password_hash: null }
      await server.storage.db.updateTable('users').set(columns).where('id', '=', ann.id).execute()
      const answer = await server.admin.patch(`/users/${ann.id}`, body)
      expect([answer.status, answer.json]).toMatchObject([
        400,
        { detail: 'This account signs in through an identity provider and has no password here' },
      ])
      expect(await changes(server)).toEqual({})
    },
  )
})

const refusals: { body: object; detail: string }[] = [
  { body: { email: 'no address' }, detail: 'Must be a valid email address' },
  { body: { email: ADMIN.email.toUpperCase() }, detail: 'Email already in use' },
  { body: { handle: ' ' }, detail: 'Handle cannot be empty' },
  { body: { handle: 'x'.repeat(33) }, detail: 'Handle must be 32 characters or fewer' },
  { body: { handle: '.ann' }, detail: 'Handle cannot start with a dot' },
  { body: { handle: 'work' }, detail: "'work' is reserved" },
  { body: { handle: systemAgent.handle }, detail: "'svc' is reserved" },
  { body: { handle: 'Ann' }, detail: 'Handle may hold only lowercase letters, digits, dots, hyphens and underscores' },
  { body: { handle: 'root' }, detail: "'root' is already taken" },
  { body: { password: 'short' }, detail: 'Password must be at least 8 characters' },
]

describe('PATCH /users/<id> leaves everything as it is', () => {
  let server: AccountsServer
  let ann: Person
  beforeAll(async () => {
    server = await startAccounts()
    ann = await server.person('ann')
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test.each([{}, { email: null, password: null, handle: null, disabled: null, must_change_password: null, shoe: 43 }])(
    '%j changes nothing and leaves no trace',
    async (body) => {
      const before = await listed(server, ann.id)
      const answer = await server.admin.patch(`/users/${ann.id}`, body)
      expect([answer.status, answer.json]).toEqual([200, { status: 'updated' }])
      expect(await changes(server)).toEqual({})
      expect(await listed(server, ann.id)).toEqual(before)
    },
  )

  test.each(refusals)('$body is refused, and with it everything else that was asked for', async ({ body, detail }) => {
    const before = await listed(server, ann.id)
    const good = { email: 'anna@example.com', handle: 'anna', disabled: true, must_change_password: true }
    const answer = await server.admin.patch(`/users/${ann.id}`, { ...good, ...body })
    expect([answer.status, answer.json]).toMatchObject([400, { detail }])
    expect(await listed(server, ann.id)).toEqual(before)
    expect((await ann.get('/auth/me')).status).toBe(200)
    expect(await changes(server)).toEqual({})
  })

  test.each([{ email: 1 }, { password: false }, { handle: [] }, { disabled: 'yes' }, { must_change_password: 0 }])(
    'refuses the shape of %j',
    async (body) => {
      expect((await server.admin.patch(`/users/${server.admin.id}`, body)).status).toBe(422)
    },
  )

  test('nobody can disable themselves', async () => {
    const answer = await server.admin.patch(`/users/${server.admin.id}`, { handle: 'boss', disabled: true })
    expect([answer.status, answer.json]).toMatchObject([400, { detail: 'Cannot disable your own account' }])
    await succeed(server.admin.patch(`/users/${server.admin.id}`, { disabled: false }))
    expect((await server.admin.get('/auth/me')).json).toMatchObject({ handle: 'root' })
  })

  test.each([
    {},
    { email: 'a@example.com' },
    { password: NEXT },
    { handle: 'agent' },
    { disabled: true },
    { must_change_password: true },
  ])('the system agent is not changed by %j', async (body) => {
    const answer = await server.admin.patch(`/users/${systemAgent.id}`, body)
    expect([answer.status, answer.json]).toMatchObject([400, { detail: 'The system agent cannot be changed' }])
  })

  test.each([{}, { handle: 'ann' }])('an unknown user is not found by %j', async (body) => {
    const answer = await server.admin.patch(`/users/${NOBODY}`, body)
    expect([answer.status, answer.json]).toMatchObject([404, { detail: 'User not found' }])
  })
})
