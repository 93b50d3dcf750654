import { describe, expect, test } from 'vitest'
import { field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'
import { WorkspaceListStore } from './workspace-list-store.ts'

interface Row {
  readonly id: string
  readonly name: string
}
const namesIn = (json: unknown): string[] => (json as Row[]).map(({ name }) => name)
const pageIn = (json: unknown) => {
  const page = json as { items: Row[]; has_more: boolean; next_offset: number | null }
  return [page.items.map(({ name }) => name), page.has_more, page.next_offset]
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: lists of workspaces`, () => {
    const databases = useDatabases(kind)

    async function open() {
      const server = await startAccounts({ database: await databases.create() })
      const [ann, ben] = [await server.person('ann'), await server.person('ben')]
      const make = async (owner: Person, name: string) => {
        server.clock.advance(1000)
        return field(await succeed(owner.post('/workspaces', { name })), 'id')
      }
      const share = (owner: Person, id: string, email: string) =>
        succeed(owner.post(`/workspaces/${id}/members`, { email }))
      return { server, ann, ben, make, share }
    }

    test('one’s own: the newest first, by name, and a part of them', async () => {
      const { server, ann, ben, make } = await open()
      await using _ = server
      for (const name of ['beta', 'Alpha', 'gamma_1', 'gammaX1']) await make(ann, name)
      await make(ben, 'not hers')
      const list = async (query: string) => namesIn((await succeed(ann.get(`/workspaces${query}`))).json)
      expect(await list('')).toEqual(['gammaX1', 'gamma_1', 'Alpha', 'beta'])
      expect(await list('?order=asc')).toEqual(['beta', 'Alpha', 'gamma_1', 'gammaX1'])
      expect(await list('?sort=name&order=asc')).toEqual(['Alpha', 'beta', 'gammaX1', 'gamma_1'])
      expect(await list('?q=A')).toEqual(['gammaX1', 'gamma_1', 'Alpha', 'beta'])
      expect(await list('?q=AMMA_')).toEqual(['gamma_1'])
      expect(await list('?q=%25')).toEqual([])
      expect(await list('?q=')).toHaveLength(4)
    })

    test('pages say whether they are full and where the next one begins', async () => {
      const { server, ann, make } = await open()
      await using _ = server
      for (const name of ['a', 'b', 'c', 'd']) await make(ann, name)
      const page = async (query: string) => pageIn((await succeed(ann.get(`/workspaces?order=asc&${query}`))).json)
      expect(await page('limit=3')).toEqual([['a', 'b', 'c'], true, 3])
      expect(await page('limit=3&offset=3')).toEqual([['d'], false, null])
      expect(await page('limit=2&offset=2')).toEqual([['c', 'd'], true, null])
      expect(await page('limit=4')).toEqual([['a', 'b', 'c', 'd'], true, null])
      expect(await page('offset=1')).toEqual([['b', 'c', 'd'], false, null])
      expect(await page('limit=9&offset=9')).toEqual([[], false, null])
    })

    test('those that began at the same moment are in one order on all pages', async () => {
      const { server, ann } = await open()
      await using _ = server
      for (const name of ['a', 'b', 'c', 'd', 'e']) await succeed(ann.post('/workspaces', { name }))
      const seen: string[] = []
      for (let offset = 0; offset < 5; offset++) {
        const answer = await succeed(ann.get(`/workspaces?limit=1&offset=${offset}`))
        seen.push(...(answer.json as { items: Row[] }).items.map(({ id }) => id))
      }
      expect(seen).toEqual(seen.toSorted().toReversed())
      expect(new Set(seen).size).toBe(5)
    })

    test('shared ones: by name, through a group or a role, each once, and never one’s own', async () => {
      const { server, ann, ben, make, share } = await open()
      await using _ = server
      const cat = await server.person('cat')
      const team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
      await succeed(server.admin.post(`/groups/${team}/members`, { user_id: ben.id }))
      const direct = await make(ann, 'direct')
      const grouped = await make(ann, 'grouped')
      const role = await make(cat, 'role')
      await make(ann, 'hidden')
      const own = await make(ben, 'own')
      await share(ann, direct, 'ben')
      await succeed(ann.post(`/workspaces/${direct}/roles/coders`, { email: 'ben' }))
      await succeed(ann.post(`/workspaces/${grouped}/groups`, { group_id: team }))
      await succeed(cat.post(`/workspaces/${role}/roles/spectators`, { email: 'ben' }))
      await share(ben, own, 'ann')
      const list = async (person: Person, query = '') =>
        namesIn((await succeed(person.get(`/workspaces/shared${query}`))).json)
      expect(await list(ben)).toEqual(['role', 'grouped', 'direct'])
      expect(await list(ben, '?sort=name&order=asc&q=R')).toEqual(['direct', 'grouped', 'role'])
      expect(await list(ann)).toEqual(['own'])
      expect(await list(cat)).toEqual([])
      expect(await list(server.admin)).toEqual([])
      const page = await succeed(ben.get('/workspaces/shared?limit=2'))
      expect(pageIn(page.json)).toEqual([['role', 'grouped'], true, 2])
      expect(page.json).toMatchObject({
        items: [{ owner_email: 'cat@example.com' }, { owner_email: 'ann@example.com' }],
      })
      await succeed(ann.delete(`/workspaces/${grouped}/groups/${team}`))
      await succeed(ann.delete(`/workspaces/${direct}/members/${ben.id}`))
      expect(await list(ben)).toEqual(['role', 'direct']) // still a coder there
    })

    test('shared ones are the same for who has many entries, though they are found another way', async () => {
      const { server, ann, ben, make, share } = await open()
      await using _ = server
      const team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
      await succeed(server.admin.post(`/groups/${team}/members`, { user_id: ben.id }))
      for (let number = 0; number < 12; number++) {
        const id = await make(ann, `w${number % 4}${'x'.repeat(number)}`)
        if (number % 2 === 0) await share(ann, id, 'ben')
        if (number % 3 === 0) await succeed(ann.post(`/workspaces/${id}/groups`, { group_id: team }))
        if (number % 5 === 0) await succeed(ann.post(`/workspaces/${id}/roles/coders`, { email: 'ben' }))
        const deny = { action: 0, principal_type: 1, user_id: ben.id, permission: 'view' }
        if (number === 7) await succeed(ann.put(`/workspaces/${id}/acl`, [deny])) // which shares nothing
      }
      await make(ben, 'own')
      const [few, many] = [new WorkspaceListStore(), new WorkspaceListStore({ manyEntries: 0 })]
      for (const sort of ['name', 'created'] as const) {
        for (const order of ['asc', 'desc'] as const) {
          for (const text of [undefined, 'xX', 'nothing']) {
            const view = { sort, order, text, limit: 5, offset: 2 }
            const expected = await few.shared(server.storage.db, ben.id, view)
            expect(expected).toHaveLength(text === 'nothing' ? 0 : 5)
            expect(await many.shared(server.storage.db, ben.id, view)).toEqual(expected)
          }
        }
      }
    })

    test('an entry that only denies shares nothing', async () => {
      const { server, ann, ben, make } = await open()
      await using _ = server
      const id = await make(ann, 'demo')
      const deny = { action: 0, principal_type: 1, user_id: ben.id, permission: 'view' }
      await succeed(ann.put(`/workspaces/${id}/acl`, [deny]))
      expect((await succeed(ben.get('/workspaces/shared'))).json).toEqual([])
    })

    test('administrators see those of anybody, a page at a time', async () => {
      const { server, ann, make } = await open()
      await using _ = server
      for (const name of ['a', 'b', 'c']) await make(ann, name)
      const page = async (query: string) =>
        pageIn((await succeed(server.admin.get(`/users/${ann.id}/workspaces${query}`))).json)
      expect(await page('')).toEqual([['c', 'b', 'a'], false, null])
      expect(await page('?limit=2')).toEqual([['c', 'b'], true, 2])
      expect((await ann.get(`/users/${ann.id}/workspaces`)).status).toBe(403)
    })
  })
}

test('a plain list ends after 500; who has more asks for pages', async () => {
  await using server = await startAccounts()
  const one = field(await succeed(server.admin.post('/workspaces', { name: 'demo' })), 'id')
  const row = await server.storage.db
    .selectFrom('workspaces')
    .selectAll()
    .where('id', '=', one)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: 500 }, (_, number) => ({ ...row, id: `w${number}`, name: `w${number}` }))
  await server.storage.transaction((tx) => tx.insertInto('workspaces').values(rows).execute())
  expect((await succeed(server.admin.get('/workspaces'))).json).toHaveLength(500)
  expect(pageIn((await succeed(server.admin.get('/workspaces?offset=500'))).json)).toEqual([
    [expect.any(String)],
    false,
    null,
  ])
})

test('a list says how each workspace is doing', async () => {
  await using server = await startAccounts()
  await succeed(server.admin.post('/workspaces', { name: 'demo' }))
  const state = { running: false, health: null, health_message: null, service_started_at: null, restart: null }
  expect((await succeed(server.admin.get('/workspaces'))).json).toMatchObject([state])
})

test.each(['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'offset=-1', 'offset=1e20', 'sort=size', 'order=up'])(
  'a list does not take %s',
  async (query) => {
    await using server = await startAccounts()
    for (const path of ['/workspaces', '/workspaces/shared']) {
      expect((await server.admin.get(`${path}?${query}`)).status).toBe(422)
    }
  },
)
