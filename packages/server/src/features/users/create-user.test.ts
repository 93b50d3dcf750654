import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'

const ANN = 'ann@example.com'

test('an account made with a password is verified and must change it before anything else', async () => {
  await using server = await startAccounts()
  const answer = await server.admin.post('/users', { email: ' Ann@Example.com ', password: PASSWORD })
  const id = field(answer, 'id')
  expect([answer.status, answer.json]).toEqual([
    200,
    {
      id,
      email: ANN,
      handle: 'ann',
      verified: true,
      provider: 'local',
      created_at: '2026-01-01 00:00:00',
      disabled: false,
      last_login_at: null,
      last_activity_at: null,
      must_change_password: true,
      groups: [{ id: await server.groupId('members'), name: 'members' }],
      status: 'created',
    },
  ])
  expect(await server.audit('user.create')).toContainEqual({ email: ANN, status: 'created' })

  const ann = await server.signIn(ANN, PASSWORD)
  expect(ann.id).toBe(id)
  const refused = await ann.get('/auth/me')
  expect([refused.status, refused.json]).toMatchObject([403, { detail: 'Password change required' }])
})

test('the audit row says who created whom', async () => {
  await using server = await startAccounts()
  const id = field(await server.admin.post('/users', { email: ANN, password: PASSWORD }), 'id')
  const rows = await server.storage.db.selectFrom('audit_events').selectAll().where('target_id', '=', id).execute()
  expect(rows).toMatchObject([
    {
      event: 'user.create',
      actor_id: server.admin.id,
      actor_email: ADMIN.email,
      target_type: 'user',
      method: 'POST',
      source_ip: '127.0.0.1',
    },
  ])
})

test('a second account of the same name gets a handle with a number', async () => {
  await using server = await startAccounts()
  await succeed(server.admin.post('/users', { email: ANN, password: PASSWORD }))
  const other = await server.admin.post('/users', { email: 'ann@example.org', password: PASSWORD })
  expect(field(other, 'handle')).toBe('ann-2')
})

test('with a verification email the owner proves the address and sets a password of their own', async () => {
  await using server = await startAccounts({ mail: true })
  const answer = await server.admin.post('/users', { email: ANN, password: PASSWORD, send_verification_email: true })
  expect([answer.status, answer.json]).toMatchObject([
    200,
    { email: ANN, verified: false, must_change_password: true, status: 'pending_verification' },
  ])
  expect(await server.audit('user.create')).toContainEqual({ email: ANN, status: 'pending-verification' })
  const withGivenPassword = await server.stranger.post('/auth/login', { identifier: ANN, password: PASSWORD })
  expect(withGivenPassword.status).toBe(401)

  const letter = await server.mail.waitFor(ANN)
  expect(letter.link).toContain('/#/verify?token=')
  const token = letter.link?.split('token=')[1]
  const verified = await succeed(server.stranger.post('/auth/verify', { token }))
  const ann = server.as(field(verified, 'access_token'))
  expect((await ann.get('/auth/me')).json).toMatchObject({ detail: 'Password change required' })

  await succeed(server.stranger.post('/auth/forgot-password', { email: ANN }))
  const reset = (await server.mail.waitFor(ANN)).link?.split('token=')[1]
  const done = await succeed(server.stranger.post('/auth/reset-password', { token: reset, password: PASSWORD }))
  expect((await server.as(field(done, 'access_token')).get('/auth/me')).json).toMatchObject({
    id: field(answer, 'id'),
    email: ANN,
  })
})

test('a letter that cannot be sent leaves nothing behind', async () => {
  await using server = await startAccounts({ mail: true })
  await server.mail.setMode('refuse')
  const answer = await server.admin.post('/users', { email: ANN, send_verification_email: true })
  expect([answer.status, answer.json]).toMatchObject([
    503,
    { detail: 'The verification email could not be sent; try again later' },
  ])
  expect((await server.admin.get('/users')).text).not.toContain(ANN)
  expect(await server.audit('user.create')).toHaveLength(1) // of the first administrator
  await server.mail.setMode('accept')
  await succeed(server.admin.post('/users', { email: ANN, send_verification_email: true }))
})

const refusals: { name: string; body: object; detail: string }[] = [
  { name: 'what is no address', body: { email: 'ann', password: PASSWORD }, detail: 'Must be a valid email address' },
  { name: 'a taken address', body: { email: 'ROOT@example.com', password: 'x' }, detail: 'Email already registered' },
  {
    name: 'a taken address with a letter',
    body: { email: ADMIN.email, send_verification_email: true },
    detail: 'Email already registered',
  },
  {
    name: 'neither password nor letter',
    body: { email: ANN },
    detail: 'Either a password or a verification email is needed',
  },
  {
    name: 'null for both',
    body: { email: ANN, password: null, send_verification_email: null },
    detail: 'Either a password or a verification email is needed',
  },
  {
    name: 'a weak password',
    body: { email: ANN, password: 'short' },
    detail: 'Password must be at least 8 characters',
  },
]

describe('POST /users', () => {
  let server: AccountsServer
  beforeAll(async () => {
    server = await startAccounts()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test.each(refusals)('refuses $name', async ({ body, detail }) => {
    const answer = await server.admin.post('/users', body)
    expect([answer.status, answer.json]).toMatchObject([400, { detail }])
    expect((await server.admin.get('/users')).json).toHaveLength(1)
  })

  test.each([{}, { email: 7 }, { email: ANN, password: 7 }, { email: ANN, send_verification_email: 'yes' }])(
    'refuses the shape of %j',
    async (body) => {
      expect((await server.admin.post('/users', body)).status).toBe(422)
    },
  )
})
