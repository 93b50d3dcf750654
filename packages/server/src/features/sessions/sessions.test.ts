import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { type AccountsServer, ADMIN, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const HOUR_MS = 3_600_000
const KEY = new TextEncoder().encode('only-for-tests-only-for-tests-only-for-tests')
const INSTANCE = '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11'

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const me = (server: AccountsServer, token: string) => server.as(token).get('/auth/me')
const refusalOf = async (server: AccountsServer, token: string) => {
  const { status, json } = await me(server, token)
  return [status, typeof json === 'object' && json !== null ? Reflect.get(json, 'detail') : undefined]
}

describe('a token', () => {
  test('names the user, the session, the purpose and the instance', async () => {
    await using server = await startAccounts()
    expect(claimsOf(server.admin.token)).toEqual({
      sub: server.admin.id,
      email: ADMIN.email,
      jti: expect.any(String),
      purpose: 'session',
      iss: INSTANCE,
      iat: server.clock.nowMs() / 1000,
      exp: server.clock.nowMs() / 1000 + 24 * 3600,
    })
  })

  const forged = (change: { claims?: object; header?: object; key?: Uint8Array }) => async (token: string) =>
    new SignJWT({ ...claimsOf(token), ...change.claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', ...change.header })
      .sign(change.key ?? KEY)
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test.each<[string, (token: string) => string | Promise<string>]>([
    ['no text at all of a token', () => 'nonsense'],
    ['a changed signature', (token) => `${token.slice(0, -2)}AA`],
    ['a changed payload', (token) => token.replace(/\.[^.]+\./, `.${encoded({ sub: 'somebody else' })}.`)],
    ['another spelling', (token) => `${token.slice(0, -4)} ${token.slice(-4)}`],
    ['padding', (token) => `${token}=`],
    ['more text than any token has', (token) => `${token}${'A'.repeat(3000)}`],
    ['another key', forged({ key: new TextEncoder().encode('x'.repeat(40)) })],
    ['another purpose', forged({ claims: { purpose: 'verify' } })],
    ['no purpose', forged({ claims: { purpose: undefined } })],
    ['another instance', forged({ claims: { iss: 'elsewhere' } })],
    ['no session', forged({ claims: { jti: undefined } })],
    ['no end', forged({ claims: { exp: undefined } })],
    ['another type', forged({ header: { typ: 'at+jwt' } })],
    ['no algorithm', (token) => `${encoded({ alg: 'none', typ: 'JWT' })}.${token.split('.')[1]}.`],
    ['another algorithm', forged({ header: { alg: 'HS512' }, key: new TextEncoder().encode('x'.repeat(80)) })],
  ])('with %s is invalid', async (_, tamper) => {
    await using server = await startAccounts()
    expect(await refusalOf(server, await tamper(server.admin.token))).toEqual([401, 'Invalid token'])
    const refresh = await server.as(await tamper(server.admin.token)).post('/auth/refresh')
    expect(refresh.json).toMatchObject({ detail: 'Invalid token' })
    expect((await me(server, server.admin.token)).status).toBe(200)
  })

  test('is good until it expires, and not a second longer', async () => {
    await using server = await startAccounts({ env: { SVCD_ACCESS_TOKEN_HOURS: '0.5' } })
    server.clock.advance(HOUR_MS / 2 - 1000)
    expect((await me(server, server.admin.token)).status).toBe(200)
    server.clock.advance(1000)
    expect(await refusalOf(server, server.admin.token)).toEqual([401, 'Invalid token'])
    expect((await server.admin.post('/auth/refresh')).json).toMatchObject({ detail: 'Token expired' })
  })

  test('is void when the signing secret changes', async () => {
    await using server = await startAccounts()
    expect((await me(server, server.admin.token)).status).toBe(200)
    await server.reconfigure({ SVCD_JWT_SECRET: 'another secret, long enough and 1234567890' })
    expect(await refusalOf(server, server.admin.token)).toEqual([401, 'Invalid token'])
  })

  test('must be there, as a bearer token in any case', async () => {
    await using server = await startAccounts()
    const get = (authorization?: string) =>
      server.request('GET', '/api/v1/auth/me', { headers: authorization === undefined ? {} : { authorization } })
    for (const header of [undefined, '', 'Bearer', 'Bearer ', `Basic ${server.admin.token}`, server.admin.token]) {
      const answer = await get(header)
      expect([answer.status, answer.json], header).toMatchObject([401, { detail: 'Not authenticated' }])
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
    expect((await get(`bEARER ${server.admin.token}`)).status).toBe(200)
  })

  test('a worn-out one counts as none where signing in is optional, and a disabled account does not', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    expect((await ann.get('/config')).json).toHaveProperty('netfilter_enabled')
    expect((await server.as('nonsense').get('/config')).json).not.toHaveProperty('netfilter_enabled')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    expect((await ann.get('/config')).status).toBe(403)
  })
})

describe('a refresh', () => {
  test('gives the same session another token', async () => {
    await using server = await startAccounts()
    expect((await me(server, server.admin.token)).status).toBe(200)
    server.clock.advance(HOUR_MS)
    const answer = await succeed(server.admin.post('/auth/refresh'))
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      token_type: 'bearer',
      must_change_password: false,
    })
    const token = field(answer, 'access_token')
    expect((await me(server, token)).status).toBe(200)
    expect(await refusalOf(server, server.admin.token)).toEqual([401, 'Token has been revoked'])
    const { items } = (await server.as(token).get(`/users/${server.admin.id}/sessions`)).json as { items: unknown[] }
    expect(items).toMatchObject([{ created_at: '2026-01-01 00:00:00', expires_at: '2026-01-02T01:00:00+00:00' }])
  })

  test('may be repeated for a minute, and gives the same token each time', async () => {
    await using server = await startAccounts()
    server.clock.advance(HOUR_MS)
    const first = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
    server.clock.advance(60_000)
    expect(field(await succeed(server.admin.post('/auth/refresh')), 'access_token')).toBe(first)
    server.clock.advance(1000)
    expect((await server.admin.post('/auth/refresh')).json).toMatchObject({ detail: 'Token has been revoked' })
    expect((await me(server, first)).status).toBe(200)
  })

  test('may be repeated after the old token has expired on the way', async () => {
    await using server = await startAccounts()
    server.clock.advance(24 * HOUR_MS - 1000)
    const first = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
    server.clock.advance(2000)
    expect(field(await succeed(server.admin.post('/auth/refresh')), 'access_token')).toBe(first)
  })

  test('is not open to a disabled account, nor to nobody', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    expect((await ann.post('/auth/refresh')).json).toMatchObject({ detail: 'Account disabled' })
    expect((await server.stranger.post('/auth/refresh')).json).toMatchObject({ detail: 'Not authenticated' })
  })

  test('says whether the password must be changed, as it is now', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { must_change_password: true }))
    expect((await succeed(ann.post('/auth/refresh'))).json).toMatchObject({ must_change_password: true })
  })
})

describe('signing out', () => {
  test('ends the session and clears what the browser has stored', async () => {
    await using server = await startAccounts()
    expect((await me(server, server.admin.token)).status).toBe(200) // so that it is in memory
    const answer = await server.admin.post('/auth/logout')
    expect([answer.status, answer.json, answer.headers['clear-site-data']]).toEqual([
      200,
      { status: 'ok' },
      '"storage"',
    ])
    expect(await refusalOf(server, server.admin.token)).toEqual([401, 'Token has been revoked'])
    expect(await server.audit('logout')).toEqual([null])
  })

  test('is never refused, and is on the record only when a session ended', async () => {
    await using server = await startAccounts()
    await succeed(server.admin.post('/auth/logout'))
    for (const token of [undefined, 'nonsense', server.admin.token]) {
      const answer = await succeed(server.as(token).post('/auth/logout'))
      expect(answer.headers['clear-site-data']).toBe('"storage"')
    }
    const later = await server.signIn(ADMIN.email, ADMIN.password)
    server.clock.advance(25 * HOUR_MS)
    await succeed(later.post('/auth/logout'))
    expect(await server.audit('logout')).toEqual([null])
  })

  test('takes no offence at a body', async () => {
    await using server = await startAccounts()
    for (const [type, body] of [
      ['application/json', '{oops'],
      ['text/plain', 'bye'],
      ['application/x-www-form-urlencoded', 'a=b'],
    ] as const) {
      const { token } = await server.signIn(ADMIN.email, ADMIN.password)
      const headers = { authorization: `Bearer ${token}`, 'content-type': type }
      const answer = await server.request('POST', '/api/v1/auth/logout', { headers, body })
      expect([answer.status, answer.headers['clear-site-data']], type).toEqual([200, '"storage"'])
      expect((await me(server, token)).status).toBe(401)
    }
  })

  test('with the token a refresh has just replaced ends the session too', async () => {
    await using server = await startAccounts()
    const next = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
    await succeed(server.admin.post('/auth/logout'))
    expect(await refusalOf(server, next)).toEqual([401, 'Token has been revoked'])
  })
})

describe('the cap', () => {
  test('ends the oldest session when there is one too many', async () => {
    await using server = await startAccounts({ env: { SVCD_MAX_SESSIONS_PER_USER: '2' } })
    expect((await me(server, server.admin.token)).status).toBe(200)
    server.clock.advance(1000)
    const second = await server.signIn(ADMIN.email, ADMIN.password)
    server.clock.advance(1000)
    const third = await server.signIn(ADMIN.email, ADMIN.password)
    expect(await refusalOf(server, server.admin.token)).toEqual([401, 'Token has been revoked'])
    for (const { token } of [second, third]) expect((await me(server, token)).status).toBe(200)
    expect(await server.audit('session.revoke')).toEqual([{ reason: 'session-limit', revoked: 1, cap: 2 }])
  })

  test('counts a refreshed session once, at its old place', async () => {
    await using server = await startAccounts({ env: { SVCD_MAX_SESSIONS_PER_USER: '2' } })
    server.clock.advance(1000)
    const second = await server.signIn(ADMIN.email, ADMIN.password)
    const first = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
    server.clock.advance(1000)
    await server.signIn(ADMIN.email, ADMIN.password)
    expect((await me(server, first)).status).toBe(401)
    expect((await me(server, second.token)).status).toBe(200)
  })

  test('that was lowered applies at the next refresh, also to the session that asks', async () => {
    await using server = await startAccounts()
    server.clock.advance(1000)
    const second = await server.signIn(ADMIN.email, ADMIN.password)
    server.clock.advance(1000)
    const third = await server.signIn(ADMIN.email, ADMIN.password)
    await server.reconfigure({ SVCD_MAX_SESSIONS_PER_USER: '2' })
    await succeed(third.post('/auth/refresh'))
    expect((await me(server, server.admin.token)).status).toBe(401)
    await server.reconfigure({ SVCD_MAX_SESSIONS_PER_USER: '1' })
    expect((await second.post('/auth/refresh')).json).toMatchObject({ detail: 'Token has been revoked' })
    expect((await me(server, second.token)).status).toBe(401)
    expect((await server.audit('session.revoke')).at(-1)).toEqual({ reason: 'session-limit', revoked: 1, cap: 1 })
  })
})

describe('who must change the password', () => {
  test('may do that and refresh, and nothing else', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    await succeed(server.admin.patch(`/users/${ann.id}`, { must_change_password: true }))
    for (const path of ['/auth/me', '/my-permissions', '/groups', '/config']) {
      const answer = await ann.get(path)
      expect([answer.status, answer.json], path).toMatchObject([403, { detail: 'Password change required' }])
    }
    const token = field(await succeed(ann.post('/auth/refresh')), 'access_token')
    const change = { current_password: PASSWORD, new_password: `another ${PASSWORD}` }
    await succeed(server.as(token).post('/auth/change-password', change))
    expect((await (await server.signIn(ann.email, `another ${PASSWORD}`)).get('/auth/me')).status).toBe(200)
  })
})

describe('activity', () => {
  const seen = async (server: AccountsServer, userId: string) => {
    const sessions = (await server.admin.get(`/users/${userId}/sessions`)).json as { items: { last_seen_at: string }[] }
    const users = (await server.admin.get('/users')).json as { id: string; last_activity_at: string | null }[]
    return {
      session: sessions.items[0]?.last_seen_at,
      user: users.find(({ id }) => id === userId)?.last_activity_at ?? null,
    }
  }

  test('is noted a moment later, and at most once a minute', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    server.clock.advance(10 * 60_000)
    await ann.get('/auth/me')
    server.clock.advance(30_000)
    await ann.get('/auth/me')
    server.clock.advance(10_000)
    const noted = { session: '2026-01-01T00:10:00+00:00', user: '2026-01-01T00:10:00+00:00' }
    await expect.poll(() => seen(server, ann.id)).toEqual(noted)
    server.clock.advance(20_000)
    await ann.get('/auth/me')
    server.clock.advance(10_000)
    const again = { session: '2026-01-01T00:11:00+00:00', user: '2026-01-01T00:11:00+00:00' }
    await expect.poll(() => seen(server, ann.id)).toEqual(again)
  })

  test('of the session is no refresh, of the person it is', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    server.clock.advance(HOUR_MS)
    await succeed(ann.post('/auth/refresh'))
    server.clock.advance(10_000)
    await expect
      .poll(() => seen(server, ann.id))
      .toEqual({
        session: '2026-01-01T00:00:00+00:00',
        user: '2026-01-01T01:00:00+00:00',
      })
  })
})

describe('who listens for changes', () => {
  test('is told which sessions ended, and which have another token', async () => {
    await using server = await startAccounts()
    const news: unknown[] = []
    server.app.sessions.ended.subscribe((ended) => news.push(ended))
    server.app.sessions.refreshed.subscribe(({ expiresAt }) => news.push(expiresAt))
    const token = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
    await succeed(server.as(token).post('/auth/logout'))
    expect(news).toEqual([
      server.clock.nowMs() / 1000 + 24 * 3600,
      { userId: server.admin.id, sessionIds: [expect.any(String)] },
    ])
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: sessions`, () => {
    const databases = useDatabases(kind)

    test('live through a restart, and so does a refresh whose answer was lost', async () => {
      const database = await databases.create()
      const clock = new FakeClock()
      let old = ''
      let next = ''
      {
        await using server = await startAccounts({ database, clock })
        old = server.admin.token
        clock.advance(1000)
        next = field(await succeed(server.admin.post('/auth/refresh')), 'access_token')
      }
      await using server = await startAccounts({ database, clock })
      expect((await me(server, next)).status).toBe(200)
      expect(field(await succeed(server.as(old).post('/auth/refresh')), 'access_token')).toBe(next)
    })

    test('ten refreshes at once give one new token', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const answers = await Promise.all(Array.from({ length: 10 }, () => server.admin.post('/auth/refresh')))
      expect(new Set(answers.map((answer) => field(answer, 'access_token'))).size).toBe(1)
    })

    test('a refresh beside a sign-out leaves nobody signed in', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      for (let round = 0; round < 5; round++) {
        const person = await server.signIn(ADMIN.email, ADMIN.password)
        const calls = [person.post('/auth/refresh'), person.post('/auth/logout'), person.post('/auth/refresh')]
        const [first, , last] = await Promise.all(round % 2 === 0 ? calls : calls.toReversed())
        expect((await me(server, person.token)).status).toBe(401)
        for (const answer of [first, last]) {
          if (answer?.status !== 200 || !answer.text.includes('access_token')) continue
          expect((await me(server, field(answer, 'access_token'))).status).toBe(401)
        }
      }
    })

    test('the cap holds for sign-ins that come together', async () => {
      const env = { SVCD_MAX_SESSIONS_PER_USER: '3' }
      await using server = await startAccounts({ database: await databases.create(), env })
      const people = await Promise.all(Array.from({ length: 8 }, () => server.signIn(ADMIN.email, ADMIN.password)))
      const statuses = await Promise.all(people.map(({ token }) => me(server, token)))
      expect(statuses.filter(({ status }) => status === 200)).toHaveLength(3)
    })

    test('expired rows are swept every hour', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const rows = () => server.storage.db.selectFrom('user_sessions').select('id').execute()
      expect(await rows()).toHaveLength(1)
      server.clock.advance(25 * HOUR_MS)
      await expect.poll(rows).toEqual([])
    })
  })
}
