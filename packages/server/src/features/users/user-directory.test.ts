import { systemAgent } from '@svc/protocol/system-agent'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

/** Accounts that nobody signs in to, one second apart. */
async function create(server: AccountsServer, ...emails: string[]): Promise<void> {
  for (const email of emails) {
    server.clock.advance(1000)
    await succeed(server.admin.post('/users', { email, password: PASSWORD }))
  }
}

const emailsOf = (list: unknown) => (list as { email: string }[]).map(({ email }) => email)

describe('GET /users', () => {
  test('lists everybody, the newest first, with their groups and without anything secret', async () => {
    await using server = await startAccounts()
    await create(server, 'ann@example.com')
    const [admins, members] = [await server.groupId('admins'), await server.groupId('members')]
    const answer = await server.admin.get('/users')
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual([
      {
        id: expect.any(String),
        email: 'ann@example.com',
        handle: 'ann',
        verified: true,
        provider: 'local',
        created_at: '2026-01-01 00:00:01',
        disabled: false,
        last_login_at: null,
        last_activity_at: null,
        must_change_password: true,
        groups: [{ id: members, name: 'members' }],
      },
      {
        id: server.admin.id,
        email: ADMIN.email,
        handle: 'root',
        verified: true,
        provider: 'local',
        created_at: '2026-01-01 00:00:00',
        disabled: false,
        last_login_at: '2026-01-01T00:00:00+00:00',
        last_activity_at: null,
        must_change_password: false,
        groups: [
          { id: admins, name: 'admins' },
          { id: members, name: 'members' },
        ],
      },
    ])
  })

  test('accounts of the same moment are ordered by their ids', async () => {
    await using server = await startAccounts()
    for (const name of ['ann', 'ben', 'cid', 'dan']) {
      await succeed(server.admin.post('/users', { email: `${name}@example.com`, password: PASSWORD }))
    }
    const ids = ((await server.admin.get('/users')).json as { id: string }[]).map(({ id }) => id)
    expect(ids).toHaveLength(5)
    expect(ids).toEqual(ids.toSorted().toReversed())
  })

  test('a filter without a page narrows the plain list', async () => {
    await using server = await startAccounts()
    await create(server, 'ben@example.com', 'ann@example.com', 'cid@example.org')
    const answer = await server.admin.get('/users?q=.com&sort=email')
    expect(emailsOf(answer.json)).toEqual(['ann@example.com', 'ben@example.com', ADMIN.email])
  })
})

describe('GET /users with a page', () => {
  let server: AccountsServer
  beforeAll(async () => {
    server = await startAccounts()
    await create(server, ...['ben', 'cid', 'dan', 'eve'].map((name) => `${name}@example.com`))
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test.each([
    ['page=1', { page: 1, page_size: 10, total: 5 }, ['eve', 'dan', 'cid', 'ben', 'root']],
    ['page_size=2', { page: 1, page_size: 2, total: 5 }, ['eve', 'dan']],
    ['page=2&page_size=2', { page: 2, page_size: 2, total: 5 }, ['cid', 'ben']],
    ['page=9&page_size=2', { page: 9, page_size: 2, total: 5 }, []],
    ['page=0&page_size=0', { page: 1, page_size: 1, total: 5 }, ['eve']],
    ['page=-3&page_size=900', { page: 1, page_size: 200, total: 5 }, ['eve', 'dan', 'cid', 'ben', 'root']],
    ['page=1&order=asc', { page: 1, page_size: 10, total: 5 }, ['root', 'ben', 'cid', 'dan', 'eve']],
    ['page=1&sort=email', { page: 1, page_size: 10, total: 5 }, ['ben', 'cid', 'dan', 'eve', 'root']],
    ['page=1&sort=handle&order=desc', { page: 1, page_size: 10, total: 5 }, ['root', 'eve', 'dan', 'cid', 'ben']],
    ['page=1&sort=shoe&order=size', { page: 1, page_size: 10, total: 5 }, ['eve', 'dan', 'cid', 'ben', 'root']],
    ['page=1&page_size=1&sort=email&q=N@EXAMPLE', { page: 1, page_size: 1, total: 2 }, ['ben']],
    ['page=1&q=%25', { page: 1, page_size: 10, total: 0 }, []],
    ['page=1&q=_', { page: 1, page_size: 10, total: 0 }, []],
    ['page=1&q=', { page: 1, page_size: 10, total: 5 }, ['eve', 'dan', 'cid', 'ben', 'root']],
  ])('answers a page to ?%s', async (query, rest, names) => {
    const { users, ...page } = (await succeed(server.admin.get(`/users?${query}`))).json as { users: unknown }
    expect(page).toEqual(rest)
    expect(emailsOf(users)).toEqual(names.map((name) => `${name}@example.com`))
    for (const user of users as { groups: { name: string }[] }[]) {
      expect(user.groups.map(({ name }) => name)).toContain('members')
    }
  })

  test.each(['page=two', 'page_size=1.5'])('refuses ?%s', async (query) => {
    expect((await server.admin.get(`/users?${query}`)).status).toBe(422)
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: GET /users/search`, () => {
    const databases = useDatabases(kind)

    test('finds people by the beginning of an address or a handle, taken literally', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const emails = ['a_b@example.com', 'axb@example.com', 'a%b@example.com', 'ann@example.com', 'zoe.ann@example.com']
      await create(server, ...emails)
      const member = await server.person('ben')
      const zoe = (await succeed(member.get('/users/search?q=zoe'))).json as { id: string }[]
      await succeed(server.admin.patch(`/users/${zoe[0]?.id}`, { handle: 'annie' }))
      const found = async (q: string) => emailsOf((await succeed(member.get(`/users/search?q=${q}`))).json)
      expect(await found('a_')).toEqual(['a_b@example.com'])
      expect(await found('a%25')).toEqual(['a%b@example.com'])
      expect(await found('%25')).toEqual([])
      expect(await found('AN')).toEqual(['ann@example.com', 'zoe.ann@example.com'])
      expect(await found('nn')).toEqual([])
      expect(await found('ann@example.com')).toEqual(['ann@example.com'])
      expect(await found('ann@example.com.')).toEqual([])
      expect(await found("a'")).toEqual([])
    })

    test('answers ten people at most, by address, and nothing but what names them', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const names = Array.from({ length: 12 }, (_, index) => `guest${String(index).padStart(2, '0')}@example.com`)
      await create(server, ...names.toReversed())
      const answer = await succeed(server.admin.get('/users/search?q=guest'))
      expect(emailsOf(answer.json)).toEqual(names.slice(0, 10))
      expect((answer.json as unknown[])[0]).toEqual({
        id: expect.any(String),
        email: 'guest00@example.com',
        handle: 'guest00',
      })
    })

    test('never finds the system agent', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      for (const q of [systemAgent.handle, systemAgent.email]) {
        expect((await succeed(server.admin.get(`/users/search?q=${q}`))).json).toEqual([])
      }
      expect((await server.admin.get('/users')).text).not.toContain(systemAgent.id)
    })
  })
}

test('a search needs at least one character', async () => {
  await using server = await startAccounts()
  expect((await server.admin.get('/users/search')).status).toBe(422)
  const empty = await server.admin.get('/users/search?q=')
  expect([empty.status, empty.json]).toMatchObject([400, { detail: 'Query too short' }])
})

describe('GET /users/<id>/sessions', () => {
  test('lists where somebody is signed in, the oldest first, without what has expired', async () => {
    await using server = await startAccounts({ env: { SVCD_ACCESS_TOKEN_HOURS: '2' } })
    const ann = await server.person('ann')
    server.clock.advance(3_600_000)
    const headers = { 'content-type': 'application/json', 'user-agent': 'Browser/1.0' }
    const body = JSON.stringify({ identifier: ann.email, password: ann.password })
    await succeed(server.request('POST', '/api/v1/auth/login', { headers, body }))
    const first = {
      created_at: '2026-01-01 00:00:00',
      expires_at: '2026-01-01T02:00:00+00:00',
      last_seen_at: '2026-01-01T00:00:00+00:00',
      source_ip: '127.0.0.1',
      user_agent: null,
    }
    const second = {
      created_at: '2026-01-01 01:00:00',
      expires_at: '2026-01-01T03:00:00+00:00',
      last_seen_at: '2026-01-01T01:00:00+00:00',
      source_ip: '127.0.0.1',
      user_agent: 'Browser/1.0',
    }
    expect((await server.admin.get(`/users/${ann.id}/sessions`)).json).toEqual({ items: [first, second] })
    server.clock.advance(3_600_000)
    const admin = await server.signIn(ADMIN.email, ADMIN.password)
    expect((await admin.get(`/users/${ann.id}/sessions`)).json).toEqual({ items: [second] })
  })

  test('an unknown user is not found', async () => {
    await using server = await startAccounts()
    const answer = await server.admin.get(`/users/${NOBODY}/sessions`)
    expect([answer.status, answer.json]).toMatchObject([404, { detail: 'User not found' }])
  })
})

describe('GET /users/<id>/workspaces', () => {
  test('is an empty page while there are no workspaces', async () => {
    await using server = await startAccounts()
    for (const query of ['', '?limit=1', '?limit=200&offset=7']) {
      const answer = await succeed(server.admin.get(`/users/${server.admin.id}/workspaces${query}`))
      expect(answer.json).toEqual({ items: [], has_more: false, next_offset: null })
    }
  })

  test('takes a limit from 1 to 200 and an offset from 0', async () => {
    await using server = await startAccounts()
    for (const query of ['limit=0', 'limit=201', 'limit=many', 'offset=-1', 'offset=0.5']) {
      const answer = await server.admin.get(`/users/${server.admin.id}/workspaces?${query}`)
      expect(answer.status, query).toBe(422)
    }
  })

  test('an unknown user is not found', async () => {
    await using server = await startAccounts()
    const answer = await server.admin.get(`/users/${NOBODY}/workspaces`)
    expect([answer.status, answer.json]).toMatchObject([404, { detail: 'User not found' }])
  })
})
