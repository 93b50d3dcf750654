import { describe, expect, test } from 'vitest'
import { type AccountsServer, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const isDisabled = async (server: AccountsServer, email: string) => {
  const query = server.storage.db.selectFrom('users').select('disabled').where('email', '=', email)
  return (await query.executeTakeFirstOrThrow()).disabled === 1
}

/** Hours pass until a sweep has disabled the account. */
async function untilDisabled(server: AccountsServer, email: string): Promise<void> {
  const laterAgain = async () => {
    server.clock.advance(HOUR_MS)
    return isDisabled(server, email)
  }
  await expect.poll(laterAgain).toBe(true)
}

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: accounts nobody uses`, () => {
    const databases = useDatabases(kind)

    test('are disabled after 35 days, within the hour, and shut out at once', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const env = { SVCD_ACCESS_TOKEN_HOURS: '10000' }
      await server.reconfigure(env)
      const ann = await server.person('ann')
      const shutOut: string[] = []
      server.app.accounts.shutOut.subscribe(({ userId }) => shutOut.push(userId))
      expect((await ann.get('/auth/me')).status).toBe(200)
      server.clock.advance(35 * DAY_MS)
      await untilDisabled(server, ann.email)
      expect((await ann.get('/auth/me')).json).toMatchObject({ detail: 'Account disabled' })
      expect(shutOut).toEqual([ann.id])
      const rows = server.storage.db.selectFrom('audit_events').selectAll().where('event', '=', 'user.disable')
      expect(await rows.execute()).toMatchObject([
        { actor_id: null, target_type: 'user', target_id: ann.id, detail: '{"via":"inactivity"}', source_ip: null },
      ])
    })

    test('stay when somebody uses them now and then', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      await server.reconfigure({ SVCD_ACCESS_TOKEN_HOURS: '10000' })
      const ann = await server.person('ann')
      const forgotten = await server.person('forgotten')
      for (let month = 0; month < 3; month++) {
        server.clock.advance(30 * DAY_MS)
        expect((await ann.get('/auth/me')).status).toBe(200)
        server.clock.advance(10_000)
      }
      await untilDisabled(server, forgotten.email)
      expect(await isDisabled(server, ann.email)).toBe(false)
    })
  })
}

test('administrators and the system agent are never disabled', async () => {
  await using server = await startAccounts()
  const eve = await server.person('eve', { groups: ['admins'] })
  const ann = await server.person('ann')
  server.clock.advance(400 * DAY_MS)
  await untilDisabled(server, ann.email)
  for (const email of [eve.email, server.admin.email, 'svc@system.invalid']) {
    expect(await isDisabled(server, email)).toBe(false)
  }
})

test('an account that is enabled again is not disabled by the next sweep', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  server.clock.advance(40 * DAY_MS)
  await untilDisabled(server, ann.email)
  const admin = await server.signIn(server.admin.email, server.admin.password)
  await succeed(admin.patch(`/users/${ann.id}`, { disabled: false }))
  server.clock.advance(2 * HOUR_MS)
  expect((await server.signIn(ann.email, PASSWORD)).id).toBe(ann.id)
})

test('nobody is disabled when the limit is off', async () => {
  await using server = await startAccounts({ env: { SVCD_INACTIVITY_DISABLE_DAYS: '0' } })
  const ann = await server.person('ann')
  server.clock.advance(400 * DAY_MS)
  expect((await server.signIn(ann.email, PASSWORD)).id).toBe(ann.id)
})
