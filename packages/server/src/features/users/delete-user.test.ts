import { systemAgent } from '@svc/protocol/system-agent'
import { describe, expect, test } from 'vitest'
import { PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const NOBODY = '3f0f5a1e-0000-4000-8000-000000000000'

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: DELETE /users/<id>`, () => {
    const databases = useDatabases(kind)

    test('takes everything of the account along and ends its sessions', async () => {
      const env = { SVCD_PASSWORD_HISTORY_COUNT: '3' }
      await using server = await startAccounts({ database: await databases.create(), env })
      const ann = await server.person('ann')
      const entry = {
        resource: '/workspaces/w',
        position: 0,
        action: 'allow',
        principal_kind: 'user',
        permission: '*',
      } as const
      await server.storage.db
        .insertInto('acl_entries')
        .values({ ...entry, user_id: ann.id, group_id: null })
        .execute()
      const rowsOfAnn = async () => {
        const { db } = server.storage
        const tables = ['user_sessions', 'group_members', 'password_history', 'acl_entries'] as const
        const counts = tables.map(async (table) => {
          const rows = await db.selectFrom(table).select('user_id').where('user_id', '=', ann.id).execute()
          return rows.length
        })
        return Promise.all(counts)
      }
      expect(await rowsOfAnn()).toEqual([1, 1, 1, 1])

      const answer = await server.admin.delete(`/users/${ann.id}`)
      expect([answer.status, answer.json]).toEqual([200, { status: 'deleted' }])
      expect(await rowsOfAnn()).toEqual([0, 0, 0, 0])
      expect((await ann.get('/auth/me')).status).toBe(401)
      expect((await server.admin.get('/users')).text).not.toContain(ann.id)
      expect((await server.stranger.post('/auth/login', { identifier: 'ann', password: PASSWORD })).status).toBe(401)
      expect(await server.audit('user.delete')).toEqual([{ email: 'ann@example.com' }])
      expect((await server.audit('session.revoke')).at(-1)).toEqual({ reason: 'user-deleted' })
    })
  })
}

test('a deleted address can be given to somebody new', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  await succeed(server.admin.delete(`/users/${ann.id}`))
  const again = await server.person('ann')
  expect(again.id).not.toBe(ann.id)
})

test('nobody can delete themselves', async () => {
  await using server = await startAccounts()
  const answer = await server.admin.delete(`/users/${server.admin.id}`)
  expect([answer.status, answer.json]).toMatchObject([400, { detail: 'Cannot delete yourself' }])
})

test('the system agent cannot be deleted', async () => {
  await using server = await startAccounts()
  const answer = await server.admin.delete(`/users/${systemAgent.id}`)
  expect([answer.status, answer.json]).toMatchObject([400, { detail: 'The system agent cannot be changed' }])
})

test('who is gone cannot be deleted again', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  await succeed(server.admin.delete(`/users/${ann.id}`))
  for (const id of [ann.id, NOBODY]) {
    const answer = await server.admin.delete(`/users/${id}`)
    expect([answer.status, answer.json]).toMatchObject([404, { detail: 'User not found' }])
  }
  expect(await server.audit('user.delete')).toHaveLength(1)
})

describe('POST /users/<id>/unlockout', () => {
  test('lets somebody sign in at once after too many wrong passwords', async () => {
    await using server = await startAccounts({ env: { SVCD_LOGIN_LOCKOUT_FAILURES: '2' } })
    const ann = await server.person('ann')
    const login = (password: string) => server.stranger.post('/auth/login', { identifier: 'ann', password })
    expect((await login('wrong')).status).toBe(401)
    expect((await login('wrong')).status).toBe(429)
    expect((await login(PASSWORD)).status).toBe(429)
    const answer = await server.admin.post(`/users/${ann.id}/unlockout`)
    expect([answer.status, answer.json]).toEqual([200, { status: 'unlocked' }])
    expect((await login(PASSWORD)).status).toBe(200)
    expect(await server.audit('user.unlock')).toEqual([{ email: 'ann@example.com' }])
  })

  test('an unknown user is not found', async () => {
    await using server = await startAccounts()
    const answer = await server.admin.post(`/users/${NOBODY}/unlockout`)
    expect([answer.status, answer.json]).toMatchObject([404, { detail: 'User not found' }])
    expect(await server.audit('user.unlock')).toEqual([])
  })
})
