import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { useMailServer } from '../../testing/mail-server.ts'
import { type AccountsServer, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const mail = useMailServer()
const HOUR_MS = 3_600_000
const NEXT = 'an even better password'

const forgot = (server: AccountsServer, email: string) => server.stranger.post('/auth/forgot-password', { email })
const reset = (server: AccountsServer, token: string, password = NEXT) =>
  server.stranger.post('/auth/reset-password', { token, password })
const login = (server: AccountsServer, identifier: string, password: string) =>
  server.stranger.post('/auth/login', { identifier, password })
const linkNotValid = { detail: 'Invalid or expired reset token', code: 'link_not_valid' }

/** Asks for a link and takes the token out of the mail. */
async function resetToken(server: AccountsServer, email: string): Promise<string> {
  await succeed(forgot(server, email))
  const { link } = await server.mail.waitFor(email)
  expect(link).toMatch(/\/#\/reset-password\?token=/)
  return link?.split('token=')[1] ?? ''
}

describe('forgetting a password', () => {
  test('leads to a link, which sets another one, signs in and ends every other session', async () => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    const answer = await reset(server, await resetToken(server, 'ann@example.com'))
    expect([answer.status, answer.json]).toEqual([
      200,
      { status: 'reset', access_token: expect.any(String), token_type: 'bearer', must_change_password: false },
    ])
    expect((await server.as(field(answer, 'access_token')).get('/auth/me')).status).toBe(200)
    expect((await ann.get('/auth/me')).json).toMatchObject({ detail: 'Token has been revoked' })
    expect([(await login(server, 'ann', PASSWORD)).status, (await login(server, 'ann', NEXT)).status]).toEqual([
      401, 200,
    ])
    expect((await server.audit('user.password.change')).at(-1)).toEqual({ via: 'password-reset' })
    expect((await server.audit('session.revoke')).at(-1)).toEqual({ reason: 'password-change' })
    expect((await server.audit('login')).at(-2)).toEqual({ via: 'password-reset' })
  })

  test('gets the same answer whoever asks, and mail only for who can use it', async () => {
    await using server = await startAccounts({ mail: mail() })
    const disabled = await server.person('disabled')
    await server.person('ann')
    await succeed(server.admin.patch(`/users/${disabled.id}`, { disabled: true }))
    for (const email of ['nobody@example.com', disabled.email, 'svc@system.invalid', 'no address', 'ann@example.com']) {
      const answer = await forgot(server, email)
      expect([answer.status, answer.json], email).toEqual([200, { status: 'sent' }])
    }
    await server.mail.waitFor('ann@example.com')
    expect((await server.mail.messages()).map(({ to }) => to)).toEqual(['ann@example.com'])
  })

  test('may be asked for once a minute, by anybody for anybody', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    for (const email of ['ann@example.com', 'nobody@example.com']) {
      await succeed(forgot(server, email))
      const soon = await forgot(server, ` ${email.toUpperCase()}`)
      expect([soon.status, soon.json]).toMatchObject([429, { detail: 'Please wait before requesting another email' }])
    }
    server.clock.advance(60_000)
    expect((await forgot(server, 'ann@example.com')).status).toBe(200)
  })

  test('is not answered otherwise when the mail fails', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    await server.mail.setMode('refuse')
    expect((await forgot(server, 'ann@example.com')).json).toEqual({ status: 'sent' })
    await expect
      .poll(() => server.log.records.map(({ message }) => message))
      .toContain('sending a password reset link failed')
  })

  test('sends nothing where nobody signs in with a password', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    const token = await resetToken(server, 'ann@example.com')
    await server.reconfigure({ SVCD_AUTH_MODES: 'none' })
    server.clock.advance(60_000)
    expect((await forgot(server, 'ann@example.com')).status).toBe(200)
    expect((await reset(server, token)).status).toBe(403)
    await server.app.stop() // what was to be sent has been sent
    expect(await server.mail.messages()).toHaveLength(1)
  })
})

describe('a reset link', () => {
  test('is good once, and its use makes every other one worthless', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    const first = await resetToken(server, 'ann@example.com')
    server.clock.advance(60_000)
    const second = await resetToken(server, 'ann@example.com')
    expect((await reset(server, second)).status).toBe(200)
    for (const token of [first, second]) expect((await reset(server, token, PASSWORD)).json).toMatchObject(linkNotValid)
  })

  test.each([
    ['an hour', (server: AccountsServer) => server.clock.advance(HOUR_MS)],
    [
      'a change of the password',
      async (server: AccountsServer) => {
        const ann = await server.signIn('ann@example.com', PASSWORD)
        await succeed(
          ann.post('/auth/change-password', { current_password: PASSWORD, new_password: 'changed it myself' }),
        )
      },
    ],
    [
      'a change of the address and back',
      async (server: AccountsServer) => {
        const ann = await server.signIn('ann@example.com', PASSWORD)
        await succeed(ann.post('/auth/change-email', { email: 'elsewhere@example.com', password: PASSWORD }))
        await succeed(ann.post('/auth/change-email', { email: 'ann@example.com', password: PASSWORD }))
      },
    ],
    [
      'a change of the address',
      async (server: AccountsServer) => {
        const ann = await server.signIn('ann@example.com', PASSWORD)
        await succeed(ann.post('/auth/change-email', { email: 'elsewhere@example.com', password: PASSWORD }))
      },
    ],
  ])('dies with %s', async (_, happens) => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    const token = await resetToken(server, 'ann@example.com')
    await happens(server)
    expect((await reset(server, token)).json).toMatchObject(linkNotValid)
  })

  test('keeps to the password policy, the history and the minimum age', async () => {
    const env = { SVCD_PASSWORD_HISTORY_COUNT: '2', SVCD_PASSWORD_MIN_AGE_HOURS: '24' }
    await using server = await startAccounts({ env, mail: mail() })
    await server.person('ann')
    const tooYoung = await reset(server, await resetToken(server, 'ann@example.com'))
    expect(tooYoung.json).toMatchObject({
      detail: 'Password can be changed only 24 hours after it was set; try again in 24 hours',
      code: 'password_rejected',
    })
    server.clock.advance(24 * HOUR_MS)
    const token = await resetToken(server, 'ann@example.com')
    expect((await reset(server, token, 'short')).status).toBe(400)
    expect((await reset(server, token, PASSWORD)).json).toMatchObject({
      detail: 'Password must differ from the current one',
    })
    expect((await reset(server, token, `first ${PASSWORD}`)).json).toMatchObject({
      detail: 'Password was used recently; choose another one',
    })
    expect((await reset(server, token)).status).toBe(200)
  })

  test('lets in somebody who must change the password, and that is done then', async () => {
    const env = { SVCD_PASSWORD_MIN_AGE_HOURS: '24' }
    await using server = await startAccounts({ env, mail: mail() })
    await succeed(server.admin.post('/users', { email: 'ann@example.com', password: PASSWORD }))
    const answer = await reset(server, await resetToken(server, 'ann@example.com'))
    expect(answer.json).toMatchObject({ must_change_password: false })
    expect((await server.as(field(answer, 'access_token')).get('/auth/me')).status).toBe(200)
  })

  test('verifies the address it was sent to, and lifts a lockout', async () => {
    await using server = await startAccounts({ mail: mail() })
    await succeed(server.stranger.post('/auth/register', { email: 'new@example.com', password: PASSWORD }))
    await server.mail.waitFor('new@example.com')
    for (let i = 0; i < 5; i++) await login(server, 'new@example.com', 'wrong')
    expect((await reset(server, await resetToken(server, 'new@example.com'))).status).toBe(200)
    expect((await login(server, 'new@example.com', NEXT)).status).toBe(200)
  })

  test('does nothing for a disabled account', async () => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    const token = await resetToken(server, 'ann@example.com')
    await succeed(server.admin.patch(`/users/${ann.id}`, { disabled: true }))
    expect((await reset(server, token)).json).toMatchObject({ detail: 'Account disabled' })
  })

  test('never appears in the log', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.person('ann')
    const token = await resetToken(server, 'ann@example.com')
    await reset(server, token)
    await reset(server, token)
    const log = inspect(server.log.records, { depth: 10, maxArrayLength: null, maxStringLength: null })
    for (const secret of [token, token.slice(-40), NEXT]) expect(log).not.toContain(secret)
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: a reset link`, () => {
    const databases = useDatabases(kind)

    test('used five times at once sets one password', async () => {
      await using server = await startAccounts({ database: await databases.create(), mail: mail() })
      await server.person('ann')
      const token = await resetToken(server, 'ann@example.com')
      const passwords = Array.from({ length: 5 }, (_, i) => `password number ${i}`)
      const answers = await Promise.all(passwords.map((password) => reset(server, token, password)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
      const winner = answers.findIndex(({ status }) => status === 200)
      for (const [i, password] of passwords.entries()) {
        await succeed(
          server.admin.post(`/users/${(await server.signIn('ann@example.com', passwords[winner] ?? '')).id}/unlockout`),
        )
        expect((await login(server, 'ann', password)).status).toBe(i === winner ? 200 : 401)
      }
    })
  })
}
