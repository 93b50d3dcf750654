import { describe, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const login = (server: AccountsServer, identifier: string, password: string) =>
  server.stranger.post('/auth/login', { identifier, password })

async function fail(server: AccountsServer, identifier: string, times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < times; i++) statuses.push((await login(server, identifier, 'wrong')).status)
  return statuses
}

test('the fifth wrong password locks the account, and says for how long', async () => {
  await using server = await startAccounts()
  expect(await fail(server, ADMIN.email, 5)).toEqual([401, 401, 401, 401, 429])
  const answer = await login(server, ADMIN.email, ADMIN.password)
  expect([answer.status, answer.json]).toMatchObject([
    429,
    { detail: 'Too many failed attempts. Try again in 15 minutes.', code: 'account_locked' },
  ])
  expect(answer.headers['retry-after']).toBe('900')
  server.clock.advance(899_000)
  expect((await login(server, ADMIN.email, ADMIN.password)).headers['retry-after']).toBe('1')
  server.clock.advance(1000)
  expect((await login(server, ADMIN.email, ADMIN.password)).status).toBe(200)
})

test('address and handle, in any case, share one count', async () => {
  await using server = await startAccounts()
  const statuses: number[] = []
  for (const identifier of [ADMIN.email, 'root', 'ROOT@example.com', ' root ', 'root']) {
    statuses.push(...(await fail(server, identifier, 1)))
  }
  expect(statuses).toEqual([401, 401, 401, 401, 429])
})

test('who does not exist is locked out just the same', async () => {
  await using server = await startAccounts()
  expect(await fail(server, 'nobody@example.com', 6)).toEqual([401, 401, 401, 401, 429, 429])
  expect(await fail(server, 'No Such Handle', 5)).toEqual([401, 401, 401, 401, 429])
})

test('only the name of an account locks it, not one that looks the same', async () => {
  await using server = await startAccounts()
  for (const other of ['ro\u0001ot@example.com', 'root@example.com\u200b', 'rооt@example.com']) {
    await fail(server, other, 5)
  }
  expect((await login(server, ADMIN.email, ADMIN.password)).status).toBe(200)
})

test('a right password clears the count', async () => {
  await using server = await startAccounts()
  expect(await fail(server, ADMIN.email, 4)).toEqual([401, 401, 401, 401])
  expect((await login(server, ADMIN.email, ADMIN.password)).status).toBe(200)
  expect(await fail(server, ADMIN.email, 4)).toEqual([401, 401, 401, 401])
})

test('nobody is locked out when the limit is off', async () => {
  await using server = await startAccounts({ env: { SVCD_LOGIN_LOCKOUT_FAILURES: '0' } })
  expect(await fail(server, ADMIN.email, 8)).toEqual(Array.from({ length: 8 }, () => 401))
})

test('an administrator lifts it', async () => {
  await using server = await startAccounts()
  const ann = await server.person('ann')
  await fail(server, ann.email, 5)
  expect((await login(server, ann.email, PASSWORD)).status).toBe(429)
  await succeed(server.admin.post(`/users/${ann.id}/unlockout`))
  expect((await login(server, ann.email, PASSWORD)).status).toBe(200)
})

test('every route that takes a password counts, and a live session stays', async () => {
  await using server = await startAccounts({ mail: true })
  const ann = await server.person('ann')
  const attempts = [
    ann.post('/auth/change-password', { current_password: 'wrong', new_password: PASSWORD }),
    ann.post('/auth/change-email', { email: 'b@example.com', password: 'wrong' }),
    ann.post('/auth/change-handle', { handle: 'b', password: 'wrong' }),
    server.stranger.post('/auth/resend-verification', { email: ann.email, password: 'wrong' }),
  ]
  for (const attempt of attempts) expect((await attempt).status).toBe(401)
  const last = { identifier: ann.email, current_password: 'wrong', new_password: PASSWORD }
  expect((await server.stranger.post('/auth/change-expired-password', last)).status).toBe(429)
  const right = { current_password: PASSWORD, new_password: `another ${PASSWORD}` }
  expect((await ann.post('/auth/change-password', right)).status).toBe(429)
  const again = await server.stranger.post('/auth/resend-verification', { email: ann.email, password: PASSWORD })
  expect(again.status).toBe(429)
  expect((await ann.get('/auth/me')).status).toBe(200)
})

test('what is on the record: who was tried, how, and that it was locked', async () => {
  await using server = await startAccounts()
  await fail(server, 'root', 6)
  await server.stranger.post('/auth/resend-verification', { email: 'nobody@example.com', password: 'wrong' })
  await fail(server, `${'n'.repeat(300)}@example.com`, 1)
  const rows = await server.storage.db
    .selectFrom('audit_events')
    .select(['actor_id', 'target_id', 'detail'])
    .where('event', '=', 'failed-login')
    .orderBy('id')
    .execute()
  const detail = rows.map((row) => JSON.parse(row.detail))
  expect(detail.slice(4)).toEqual([
    { identifier: 'root' },
    { identifier: 'root', reason: 'locked-out' },
    { identifier: 'nobody@example.com', path: 'resend-verification' },
    { identifier: 'n'.repeat(256) },
  ])
  expect(rows.map((row) => row.actor_id)).toEqual(rows.map(() => null))
  expect(rows.slice(4).map((row) => row.target_id)).toEqual([server.admin.id, server.admin.id, null, null])
})

test('guesses at a locked account are recorded once a minute, with their number', async () => {
  await using server = await startAccounts()
  await fail(server, 'root', 30)
  server.clock.advance(60_000)
  await fail(server, 'root', 2)
  expect((await server.audit('failed-login')).slice(5)).toEqual([
    { identifier: 'root', reason: 'locked-out' },
    { identifier: 'root', reason: 'locked-out', repeated: 24 },
  ])
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: the lockout`, () => {
    const databases = useDatabases(kind)

    test('cannot be passed by fifty guesses at once, the right one among them', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      // The right one comes last: by then more wrong ones than allowed have been counted.
      const guesses = Array.from({ length: 50 }, (_, i) => (i === 49 ? PASSWORD : `guess ${i}`))
      const answers = await Promise.all(guesses.map((guess) => login(server, ann.email, guess)))
      const count = (status: number) => answers.filter((answer) => answer.status === status).length
      expect({ refused: count(401), locked: count(429), signedIn: count(200) }).toEqual({
        refused: 4,
        locked: 46,
        signedIn: 0,
      })
      expect((await login(server, ann.email, PASSWORD)).status).toBe(429)
    })

    test('counts each guess before the next one is compared, however slowly the counting goes', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const guesses = ['one', 'two', 'three', 'four', 'five', PASSWORD]
      const answers = await server.writeInOrder(guesses.map((guess) => () => login(server, ann.email, guess)))
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429, 429])
    })

    test('holds after a restart', async () => {
      const database = await databases.create()
      {
        await using server = await startAccounts({ database })
        await server.person('ann')
        await fail(server, 'ann', 5)
      }
      await using server = await startAccounts({ database })
      expect((await login(server, 'ann', PASSWORD)).status).toBe(429)
    })

    test('failures that no longer count are swept every hour', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      await fail(server, 'nobody@example.com', 1)
      await fail(server, 'somebody@example.com', 5)
      const rows = () => server.storage.db.selectFrom('login_failures').select('account').execute()
      expect(await rows()).toHaveLength(2)
      server.clock.advance(3_600_000)
      await expect.poll(rows).toEqual([])
    })
  })
}
