import { describe, expect, test } from 'vitest'
import { type AccountsServer, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import type { TestResponse } from '../../testing/start-http.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

/** Far more than it takes until every call has looked around and waits for its turn to write. */
const ROUND_TRIPS = 10

/** Makes the calls at the same time: each has found everything in order before the first of them can write. */
async function atOnce(server: AccountsServer, calls: (() => Promise<TestResponse>)[]): Promise<TestResponse[]> {
  const hold = Promise.withResolvers<void>()
  const holding = server.storage.transaction(() => hold.promise)
  const answers = Promise.all(calls.map((call) => call()))
  for (let trip = 0; trip < ROUND_TRIPS; trip++) await succeed(server.admin.get('/users'))
  hold.resolve()
  await holding
  return (await answers).toSorted((a, b) => a.status - b.status)
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: two administrators at the same time`, () => {
    const databases = useDatabases(kind)

    test('an address asked for twice becomes one account and one refusal', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const create = () => server.admin.post('/users', { email: 'ann@example.com', password: PASSWORD })
      const [created, refused] = await atOnce(server, [create, create])
      expect([created?.status, refused?.status]).toEqual([200, 400])
      expect(refused?.json).toMatchObject({ detail: 'Email already registered' })
      expect((await server.admin.get('/users')).json).toHaveLength(2)
      expect(await server.audit('user.create')).toHaveLength(2) // with that of the first administrator
    })

    test.each([
      { body: { email: 'same@example.com' }, detail: 'Email already in use' },
      { body: { handle: 'same' }, detail: "'same' is already taken" },
    ])('two people given $body: one gets it, the other change is refused', async ({ body, detail }) => {
      await using server = await startAccounts({ database: await databases.create() })
      const people = [await server.person('ann'), await server.person('ben')]
      const calls = people.map(
        ({ id }) =>
          () =>
            server.admin.patch(`/users/${id}`, body),
      )
      const [done, refused] = await atOnce(server, calls)
      expect([done?.status, refused?.status]).toEqual([200, 400])
      expect(refused?.json).toMatchObject({ detail })
      expect(await server.audit('user.update')).toHaveLength(1)
    })

    test('of two passwords set for one person the second is refused', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { id } = await server.person('ann')
      const calls = ['one good password', 'two good passwords'].map(
        (password) => () => server.admin.patch(`/users/${id}`, { password }),
      )
      const [done, refused] = await atOnce(server, calls)
      expect([done?.status, refused?.status]).toEqual([200, 409])
    })

    test('who is deleted twice is not found the second time', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { id } = await server.person('ann')
      const remove = () => server.admin.delete(`/users/${id}`)
      const [deleted, missed] = await atOnce(server, [remove, remove])
      expect([deleted?.status, missed?.status]).toEqual([200, 404])
      expect(await server.audit('user.delete')).toHaveLength(1)
    })
  })
}
