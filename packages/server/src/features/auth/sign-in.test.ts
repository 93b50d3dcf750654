import { describe, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { startServer } from '../../testing/start-server.ts'

const DAY_MS = 86_400_000

const login = (server: AccountsServer, identifier: string, password: string) =>
  server.stranger.post('/auth/login', { identifier, password })

const refusal = (detail: unknown, code: string) => ({ detail, code, request_id: expect.any(String) })

describe('with a password', () => {
  test('somebody signs in by address or by handle, in any case, and is who they are', async () => {
    await using server = await startAccounts()
    const answer = await login(server, ADMIN.email, ADMIN.password)
    expect([answer.status, answer.json]).toEqual([
      200,
      { access_token: expect.any(String), token_type: 'bearer', must_change_password: false },
    ])
    const me = await server.as(field(answer, 'access_token')).get('/auth/me')
    expect([me.status, me.json]).toEqual([200, { id: server.admin.id, email: ADMIN.email, handle: 'root' }])
    for (const identifier of ['root', ' ROOT@Example.com ', 'Root']) {
      expect((await login(server, identifier, ADMIN.password)).status, identifier).toBe(200)
    }
  })

  test.each([
    ['a wrong password', ADMIN.email, 'wrong'],
    ['nobody of that address', 'nobody@example.com', ADMIN.password],
    ['nobody of that handle', 'nobody', ADMIN.password],
    ['the system agent', 'svc@system.invalid', ''],
    ['an identifier of the size of a book', 'x'.repeat(20_000), 'wrong'],
    ['a password of the size of a book', ADMIN.email, 'x'.repeat(20_000)],
  ])('%s is refused in the same words', async (_, identifier, password) => {
    await using server = await startAccounts()
    const answer = await login(server, identifier, password)
    expect([answer.status, answer.json]).toEqual([401, refusal('Invalid credentials', 'invalid_credentials')])
  })

  test('a sign-in is on the record, with how and from where, and never with the password', async () => {
    await using server = await startAccounts()
    const headers = {
      'content-type': 'application/json',
      'user-agent': `curl\u0007${'x'.repeat(600)}`.replace('\u0007', '\t'),
      referer: `https://example.com/${'r'.repeat(3000)}`,
      'x-forwarded-for': '203.0.113.7',
    }
    const body = JSON.stringify({ identifier: ADMIN.email, password: ADMIN.password })
    await server.request('POST', '/api/v1/auth/login', { headers, body })
    const row = await server.storage.db
      .selectFrom('audit_events')
      .selectAll()
      .where('event', '=', 'login')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      actor_id: server.admin.id,
      actor_email: ADMIN.email,
      target_type: 'user',
      target_id: server.admin.id,
      detail: '{"via":"password"}',
      source_ip: '203.0.113.7',
      method: 'POST',
    })
    expect([row.user_agent?.length, row.referer?.length]).toEqual([512, 2048])
    expect(row.user_agent).not.toContain('\t')
    await login(server, ADMIN.email, 'a wrong secret')
    const everything = JSON.stringify(await server.storage.db.selectFrom('audit_events').selectAll().execute())
    for (const secret of [ADMIN.password, 'a wrong secret', server.admin.token])
      expect(everything).not.toContain(secret)
  })

  test('an account that is not verified, or disabled, is told so only with the right password', async () => {
    await using server = await startAccounts({ mail: true })
    await succeed(server.stranger.post('/auth/register', { email: 'new@example.com', password: PASSWORD }))
    expect((await login(server, 'new@example.com', 'wrong')).status).toBe(401)
    const unverified = await login(server, 'new@example.com', PASSWORD)
    expect([unverified.status, unverified.json]).toEqual([
      403,
      refusal('Account not verified. Check your email.', 'account_not_verified'),
    ])
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    expect((await login(server, ann.email, 'wrong')).status).toBe(401)
    const disabled = await login(server, ann.email, PASSWORD)
    expect([disabled.status, disabled.json]).toEqual([403, refusal('Account disabled', 'account_disabled')])
  })

  test.each(['none', 'oidc'])('in mode %s nobody signs in with one', async (mode) => {
    await using server = await startAccounts()
    await server.reconfigure({
      SVCD_AUTH_MODES: mode,
      ...(mode === 'oidc' ? { SVCD_OIDC_CONFIG: await provider() } : {}),
    })
    const answer = await login(server, ADMIN.email, ADMIN.password)
    expect([answer.status, answer.json]).toEqual([403, refusal('Password login is disabled', 'not_offered')])
    const expired = { identifier: ADMIN.email, current_password: ADMIN.password, new_password: PASSWORD }
    expect((await server.stranger.post('/auth/change-expired-password', expired)).status).toBe(403)
  })
})

describe('with a password that got too old', () => {
  const env = { SVCD_PASSWORD_MAX_AGE_DAYS: '90', SVCD_INACTIVITY_DISABLE_DAYS: '0', SVCD_ACCESS_TOKEN_HOURS: '10000' }
  const expired = {
    detail: { error: 'password_expired', message: expect.any(String) },
    code: 'password_expired',
    request_id: expect.any(String),
  }

  test('signing in, refreshing and every request are refused', async () => {
    await using server = await startAccounts({ env })
    server.clock.advance(90 * DAY_MS - 1000)
    expect((await server.admin.get('/auth/me')).status).toBe(200)
    server.clock.advance(1000)
    for (const answer of [
      await login(server, ADMIN.email, ADMIN.password),
      await server.admin.get('/auth/me'),
      await server.admin.post('/auth/refresh'),
      await server.admin.post('/auth/change-password', { current_password: ADMIN.password, new_password: PASSWORD }),
    ]) {
      expect([answer.status, answer.json]).toEqual([403, expired])
    }
    expect((await login(server, ADMIN.email, 'wrong')).status).toBe(401)
  })

  test('it can be replaced by a new one, which signs in and ends every other session', async () => {
    await using server = await startAccounts({ env })
    const change = { identifier: 'root', current_password: ADMIN.password, new_password: PASSWORD }
    const early = await server.stranger.post('/auth/change-expired-password', change)
    expect([early.status, early.json]).toEqual([400, refusal('The password has not expired', 'bad_request')])
    server.clock.advance(90 * DAY_MS)
    const wrong = await server.stranger.post('/auth/change-expired-password', { ...change, current_password: 'wrong' })
    expect(wrong.status).toBe(401)
    const weak = await server.stranger.post('/auth/change-expired-password', { ...change, new_password: 'short' })
    expect([weak.status, weak.json]).toEqual([
      400,
      refusal('Password must be at least 8 characters', 'password_rejected'),
    ])
    await server.reconfigure({ ...env, SVCD_PASSWORD_MIN_CHANGED: '72' }) // for changes of one's own wish only
    const answer = await succeed(server.stranger.post('/auth/change-expired-password', change))
    expect((await server.as(field(answer, 'access_token')).get('/auth/me')).status).toBe(200)
    expect((await server.admin.get('/auth/me')).json).toMatchObject({ detail: 'Token has been revoked' })
    expect(await server.audit('user.password.change')).toEqual([{ via: 'expired-password' }])
    expect((await server.audit('login')).at(-1)).toEqual({ via: 'expired-password' })
    expect((await login(server, ADMIN.email, PASSWORD)).status).toBe(200)
  })
})

describe('without a password, in mode none', () => {
  test('whoever sits at the machine is the administrator', async () => {
    await using server = await startServer({ SVCD_DEFAULT_USER: 'me@example.com' })
    const answer = await server.request('POST', '/api/v1/auth/local')
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token_type: 'bearer',
        must_change_password: false,
        email: 'me@example.com',
      },
    ])
    const headers = { authorization: `Bearer ${field(answer, 'access_token')}` }
    expect((await server.request('GET', '/api/v1/users', { headers })).status).toBe(200)
  })

  test.each([
    ['a client elsewhere, behind a proxy here', { 'x-forwarded-for': '203.0.113.7' }],
    ['a name that somebody pointed at this machine', { host: 'evil.example.com' }],
    ['a page of another origin', { origin: 'https://evil.example.com' }],
    ['a page without an origin', { origin: 'null' }],
    ['a page of another program on this machine', { origin: 'http://127.0.0.1:1' }],
  ])('%s gets nothing', async (_, headers) => {
    await using server = await startServer()
    const answer = await server.request('POST', '/api/v1/auth/local', { headers })
    expect([answer.status, answer.json]).toMatchObject([403, { code: 'permission_denied' }])
  })

  test('a page of our own gets a session', async () => {
    await using server = await startServer()
    const headers = { host: `localhost:${server.port}`, origin: `http://localhost:${server.port}` }
    expect((await server.request('POST', '/api/v1/auth/local', { headers })).status).toBe(200)
  })

  test('in every other mode it is refused', async () => {
    await using server = await startAccounts()
    const answer = await server.stranger.post('/auth/local')
    expect([answer.status, answer.json]).toMatchObject([403, { code: 'not_offered' }])
  })
})

/** A file that names an identity provider nobody will ask. */
async function provider(): Promise<string> {
  const { writeTemporary } = await import('../../testing/load-test-settings.ts')
  return writeTemporary('oidc.yaml', '- {id: corp, issuer: https://id.example.com, client-id: svc, client-secret: s}')
}
