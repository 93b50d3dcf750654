import { describe, expect, test } from 'vitest'
import { field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: two administrators at the same time`, () => {
    const databases = useDatabases(kind)

    test('an address asked for twice becomes one account and one refusal', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const create = () => server.admin.post('/users', { email: 'ann@example.com', password: PASSWORD })
      const [created, refused] = await server.writeInOrder([create, create])
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
      const [done, refused] = await server.writeInOrder(calls)
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
      const [done, refused] = await server.writeInOrder(calls)
      expect([done?.status, refused?.status]).toEqual([200, 409])
    })

    test('who is deleted twice is not found the second time', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { id } = await server.person('ann')
      const remove = () => server.admin.delete(`/users/${id}`)
      const [deleted, missed] = await server.writeInOrder([remove, remove])
      expect([deleted?.status, missed?.status]).toEqual([200, 404])
      expect(await server.audit('user.delete')).toHaveLength(1)
    })

    test('somebody who becomes an administrator meanwhile is out of reach of who manages users only', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const { admin } = server
      const group = field(await succeed(admin.post('/groups', { name: 'helpdesk' })), 'id')
      const entries = (await succeed(admin.get('/acl/resource?resource=/users'))).json as object[]
      const allow = { action: 1, principal_type: 2, permission: 'manage-users', group_id: group }
      await succeed(admin.put('/acl/resource?resource=/users', [allow, ...entries]))
      const helper = await server.person('helper', { groups: ['helpdesk'] })
      const ann = await server.person('ann')
      const admins = await server.groupId('admins')
      const [promoted, refused] = await server.writeInOrder([
        () => admin.post(`/groups/${admins}/members`, { user_id: ann.id }),
        () => helper.patch(`/users/${ann.id}`, { password: 'a password I know' }),
      ])
      expect([promoted?.status, refused?.status]).toEqual([200, 403])
    })
  })
}
