import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AccountsServer, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { type DatabaseHost, storageKinds } from '../../testing/storages.ts'

interface Item {
  readonly id: number
  readonly event: string
  readonly created_at: number
  readonly target_id: string | null
}
interface Page {
  readonly items: readonly Item[]
  readonly total: number
  readonly limit: number
  readonly offset: number
}

const query = (parameters: Record<string, string>) => `/events/audit?${new URLSearchParams(parameters)}`

describe('the audit trail', () => {
  let server: AccountsServer
  beforeAll(async () => {
    server = await startAccounts()
  })
  afterAll(() => server[Symbol.asyncDispose]())
  const page = async (parameters: Record<string, string> = {}) =>
    (await succeed(server.admin.get(query(parameters)))).json as Page

  test('a row tells what happened, who did it to whom, and by which request', async () => {
    const headers = {
      authorization: `Bearer ${server.admin.token}`,
      'content-type': 'application/json',
      'user-agent': 'a browser',
      referer: 'https://example.com/groups',
    }
    const body = JSON.stringify({ name: 'choir' })
    server.clock.advance(1_250)
    const { json: group } = await server.request('POST', '/api/v1/groups', { headers, body })
    const { items } = await page({ limit: '1' })
    expect(items).toEqual([
      {
        id: expect.any(Number),
        event: 'group.create',
        actor_id: server.admin.id,
        actor_email: server.admin.email,
        target_type: 'group',
        target_id: Reflect.get(Object(group), 'id'),
        detail: { name: 'choir' },
        source_ip: '127.0.0.1',
        user_agent: 'a browser',
        method: 'POST',
        referer: 'https://example.com/groups',
        created_at: server.clock.nowMs() / 1000,
      },
    ])
    expect(Number.isInteger(items[0]?.id)).toBe(true)
  })

  test('what has no detail has null', async () => {
    const gone = await server.signIn(server.admin.email, server.admin.password)
    await succeed(gone.post('/auth/logout'))
    const { items } = await page({ event: 'logout' })
    expect(items[0]).toMatchObject({ event: 'logout', detail: null, target_type: 'session' })
  })

  test.each([{ limit: '0' }, { limit: '201' }, { limit: '-1' }, { limit: 'x' }, { limit: '1.5' }, { limit: '' }])(
    '%j is out of bounds',
    async (parameters) => {
      const answer = await server.admin.get(query(parameters))
      expect([answer.status, answer.json]).toMatchObject([422, { detail: [{ loc: ['query', 'limit'] }] }])
    },
  )

  test.each([{ offset: '-1' }, { offset: 'x' }, { offset: '0.5' }, { offset: '1e99' }])(
    '%j is out of bounds as well',
    async (parameters) => {
      const answer = await server.admin.get(query(parameters))
      expect([answer.status, answer.json]).toMatchObject([422, { detail: [{ loc: ['query', 'offset'] }] }])
    },
  )

  test('fifty rows are a page unless asked otherwise, and bounds are within', async () => {
    expect(await page()).toMatchObject({ limit: 50, offset: 0 })
    expect(await page({ limit: '200', offset: '7' })).toMatchObject({ limit: 200, offset: 7 })
    expect(await page({ limit: '1', offset: '9007199254740991' })).toMatchObject({ items: [], limit: 1 })
  })

  test('only holders of manage-events read it', async () => {
    const ann = await server.person('ann')
    const refused = await ann.get('/events/audit?limit=0')
    expect([refused.status, refused.json]).toMatchObject([403, { detail: 'Permission denied' }])
    expect((await server.stranger.get('/events/audit')).status).toBe(401)
    const row = { action: 1, principal_type: 1, user_id: ann.id, permission: 'manage-events' }
    const before = (await server.admin.get('/acl/resource?resource=/events')).json as object[]
    await succeed(server.admin.put('/acl/resource?resource=/events', [row, ...before]))
    expect((await ann.get('/events/audit')).status).toBe(200)
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: filters of the audit trail`, () => {
    let host: DatabaseHost
    let server: AccountsServer
    beforeAll(async () => {
      host = await kind.start()
      server = await startAccounts({ database: await host.create() })
      const row = { detail: '{}', target_type: 'user', created_at: 2_000_000_000 }
      const rows = [
        { ...row, event: 'x.one', target_id: '100%', actor_id: 'id-of-Zoe', actor_email: 'zoe@example.org' },
        { ...row, event: 'x.two', target_id: '100_', actor_id: 'id-of-yan', actor_email: 'y_n@example.org' },
        { ...row, event: 'x.three', target_id: '100\\', actor_id: null, actor_email: null },
        { ...row, event: 'x_four', target_id: '1000', actor_id: 'id-of-max', actor_email: 'Max%@example.org' },
        { ...row, event: 'x.five', target_id: null, actor_id: 'only-id', actor_email: null, created_at: 2_000_000_001 },
        {
          ...row,
          event: 'x.six',
          target_id: "a'b",
          actor_id: null,
          actor_email: 'only@mail',
          created_at: 1_999_999_999,
        },
      ]
      await server.storage.transaction((tx) => tx.insertInto('audit_events').values(rows).execute())
    })
    afterAll(async () => {
      await server[Symbol.asyncDispose]()
      await host.stop()
    })
    const found = async (parameters: Record<string, string>) => {
      const { items, total } = (await succeed(server.admin.get(query(parameters)))).json as Page
      expect(total).toBe(items.length)
      return items.map(({ event }) => event)
    }

    test.each<[Record<string, string>, string[]]>([
      [{ target: '%' }, ['x.one']],
      [{ target: '_' }, ['x.two']],
      [{ target: '\\' }, ['x.three']],
      [{ target: '00', event: 'x' }, ['x_four', 'x.three', 'x.two', 'x.one']],
      [{ target: '\\%' }, []],
      [{ target: "'" }, ['x.six']],
      [{ target: "' or 1=1 --" }, []],
      [{ event: 'x_' }, ['x_four']],
      [{ event: 'x.' }, ['x.five', 'x.three', 'x.two', 'x.one', 'x.six']],
      [{ event: 'X.ONE' }, ['x.one']],
      [{ event: 'one', target: '' }, ['x.one']],
      [{ actor: 'zoe@' }, ['x.one']],
      [{ actor: 'of-zoe' }, ['x.one']],
      [{ actor: 'y_n' }, ['x.two']],
      [{ actor: 'x%@' }, ['x_four']],
      [{ actor: 'only' }, ['x.five', 'x.six']],
      [{ actor: 'example.org', target: '1000' }, ['x_four']],
      [{ actor: 'example.org', event: 'x.', target: '100' }, ['x.two', 'x.one']],
      [{ actor: 'nobody' }, []],
    ])('%j finds %j', async (parameters, events) => {
      expect(await found(parameters)).toEqual(events)
    })

    test('empty filters are none', async () => {
      const all = (await succeed(server.admin.get('/events/audit'))).json
      expect((await succeed(server.admin.get(query({ event: '', actor: '', target: '' })))).json).toEqual(all)
    })

    test('pages follow each other without a gap, the newest first, with or without a filter', async () => {
      for (const filter of [{}, { event: 'x' }]) {
        const whole = (await succeed(server.admin.get(query({ ...filter, limit: '200' })))).json as Page
        const sorted = whole.items.toSorted((a, b) => b.created_at - a.created_at || b.id - a.id)
        expect(whole.items).toEqual(sorted)
        const pieces: Item[] = []
        for (let offset = 0; offset < whole.total; offset += 2) {
          const piece = (await succeed(server.admin.get(query({ ...filter, limit: '2', offset: `${offset}` }))))
            .json as Page
          expect(piece).toMatchObject({ limit: 2, offset, total: whole.total })
          pieces.push(...piece.items)
        }
        expect(pieces).toEqual(whole.items)
        const beyond = (await succeed(server.admin.get(query({ ...filter, offset: '100000' })))).json
        expect(beyond).toEqual({ items: [], total: whole.total, limit: 50, offset: 100_000 })
      }
    })
  })
}
