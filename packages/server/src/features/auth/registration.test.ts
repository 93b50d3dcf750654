import { describe, expect, test } from 'vitest'
import { useMailServer } from '../../testing/mail-server.ts'
import { type AccountsServer, ADMIN, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const mail = useMailServer()
const HOUR_MS = 3_600_000
const NEW = { email: 'new@example.com', password: PASSWORD }

const register = (server: AccountsServer, body: object = NEW) => server.stranger.post('/auth/register', body)
const verify = (server: AccountsServer, token: string) => server.stranger.post('/auth/verify', { token })
const tokenIn = (link: string | undefined) => link?.split('token=')[1] ?? ''
const linkNotValid = { detail: 'Invalid or expired verification token', code: 'link_not_valid' }

/** Registers and takes the token out of the mail. */
async function registered(server: AccountsServer): Promise<string> {
  await succeed(register(server))
  return tokenIn((await server.mail.waitFor(NEW.email)).link)
}

describe('registering', () => {
  test('makes an unverified account and sends a link; the link verifies it and signs in', async () => {
    await using server = await startAccounts({ mail: mail() })
    const answer = await register(server, { ...NEW, email: ' New@Example.com ' })
    expect([answer.status, answer.json]).toEqual([200, { status: 'pending_verification', email: NEW.email }])
    const { link } = await server.mail.waitFor(NEW.email)
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/verify\?token=/)
    const verified = await verify(server, tokenIn(link))
    expect([verified.status, verified.json]).toEqual([
      200,
      { status: 'verified', access_token: expect.any(String), token_type: 'bearer', must_change_password: false },
    ])
    const me = await server.as(field(verified, 'access_token')).get('/auth/me')
    expect(me.json).toMatchObject({ email: NEW.email, handle: 'new' })
    const permissions = (await server.as(field(verified, 'access_token')).get('/my-permissions')).json
    expect(permissions).toMatchObject({ groups: [{ name: 'members' }], is_admin: false })
    expect(await server.audit('user.register')).toEqual([{ email: NEW.email, verified: false }])
    expect((await server.audit('login')).at(-1)).toEqual({ via: 'email-verify' })
    expect((await server.signIn(NEW.email, PASSWORD)).email).toBe(NEW.email)
  })

  test.each([
    ['an address that is none', { ...NEW, email: 'nobody' }, 400, 'Must be a valid email address'],
    ['two addresses', { ...NEW, email: 'a@example.com,b@example.com' }, 400, 'Must be a valid email address'],
    ['a line break', { ...NEW, email: 'a@example.com\r\nBcc: b@example.com' }, 400, 'Must be a valid email address'],
    ['a weak password', { ...NEW, password: 'short' }, 400, 'Password must be at least 8 characters'],
    ['an address in use', { ...NEW, email: ADMIN.email.toUpperCase() }, 400, 'Registration failed'],
    ['the address of the system agent', { ...NEW, email: 'svc@system.invalid' }, 400, 'Registration failed'],
  ])('with %s is refused and changes nothing', async (_, body, status, detail) => {
    await using server = await startAccounts({ mail: mail() })
    const answer = await register(server, body)
    expect([answer.status, answer.json]).toMatchObject([status, { detail }])
    expect(await server.mail.messages()).toEqual([])
    expect(await server.audit('user.register')).toEqual([])
  })

  test('without a password is no request at all', async () => {
    await using server = await startAccounts()
    expect((await register(server, { email: NEW.email })).status).toBe(422)
  })

  test('is refused when the operator has turned it off, or passwords altogether', async () => {
    await using server = await startAccounts()
    await server.reconfigure({ SVCD_DISABLE_REGISTRATION: '1' })
    expect((await register(server)).json).toMatchObject({ detail: 'Registration is disabled', code: 'not_offered' })
    await server.reconfigure({ SVCD_AUTH_MODES: 'none' })
    expect((await register(server)).json).toMatchObject({ detail: 'Password registration is disabled' })
  })

  test('leaves nothing behind when the mail cannot be sent, and works once it can', async () => {
    await using server = await startAccounts({ mail: mail() })
    await server.mail.setMode('refuse')
    const failed = await register(server)
    expect([failed.status, failed.json]).toMatchObject([
      503,
      { detail: 'The verification email could not be sent; try again later', code: 'mail_failed' },
    ])
    expect(await server.audit('user.register')).toEqual([])
    await server.mail.setMode('accept')
    expect((await register(server)).status).toBe(200)
  })

  test('in test mode signs in at once', async () => {
    await using server = await startAccounts({ env: { SVCD_TEST_MODE: '1' } })
    const answer = await register(server)
    expect(answer.json).toEqual({
      user_id: expect.any(String),
      email: NEW.email,
      access_token: expect.any(String),
      token_type: 'bearer',
      must_change_password: false,
    })
    expect((await server.as(field(answer, 'access_token')).get('/auth/me')).status).toBe(200)
  })

  test('gives everybody a handle of their own', async () => {
    await using server = await startAccounts({ env: { SVCD_TEST_MODE: '1' } })
    const handles: unknown[] = []
    for (const email of [
      'ann@a.example',
      'ann@b.example',
      'a.n-n+tag@c.example',
      'svc@d.example',
      'work@e.example',
      'ÄÖ@f.example',
      `${'l'.repeat(60)}@g.example`,
      `${'l'.repeat(60)}@h.example`,
    ]) {
      const token = field(await succeed(register(server, { email, password: PASSWORD })), 'access_token')
      handles.push(((await server.as(token).get('/auth/me')).json as { handle: string }).handle)
    }
    const long = 'l'.repeat(32)
    expect(handles).toEqual(['ann', 'ann-2', 'a.n-ntag', 'svc-2', 'work-2', 'user', long, `${long.slice(2)}-2`])
  })
})

describe('a verification link', () => {
  test('is good once', async () => {
    await using server = await startAccounts({ mail: mail() })
    const token = await registered(server)
    expect((await verify(server, token)).status).toBe(200)
    const again = await verify(server, token)
    expect([again.status, again.json]).toMatchObject([400, linkNotValid])
  })

  test('is good for 72 hours', async () => {
    await using server = await startAccounts({ mail: mail() })
    const token = await registered(server)
    server.clock.advance(72 * HOUR_MS)
    expect((await verify(server, token)).json).toMatchObject(linkNotValid)
  })

  test.each([
    ['nonsense', () => 'nonsense'],
    ['a session token', (server: AccountsServer) => server.admin.token],
  ])('is not %s', async (_, make) => {
    await using server = await startAccounts()
    expect((await verify(server, make(server))).json).toMatchObject(linkNotValid)
  })

  test('of the old address dies with a change of the address, even of a change back', async () => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    await succeed(ann.post('/auth/change-email', { email: 'second@example.com', password: PASSWORD }))
    const second = tokenIn((await server.mail.waitFor('second@example.com')).link)
    await succeed(ann.post('/auth/change-email', { email: 'third@example.com', password: PASSWORD }))
    const third = tokenIn((await server.mail.waitFor('third@example.com')).link)
    expect((await verify(server, second)).json).toMatchObject(linkNotValid)
    const back = { email: 'second@example.com', password: PASSWORD }
    expect((await ann.post('/auth/change-email', back)).status).toBe(429) // one letter a minute to an address
    server.clock.advance(60_000)
    await succeed(ann.post('/auth/change-email', back))
    await server.mail.waitFor('second@example.com') // the notice that the address was no longer used
    const again = tokenIn((await server.mail.waitFor('second@example.com')).link)
    for (const token of [second, third]) expect((await verify(server, token)).json).toMatchObject(linkNotValid)
    expect((await verify(server, again)).status).toBe(200)
  })

  test('does nothing for a disabled account', async () => {
    await using server = await startAccounts({ mail: mail() })
    const token = await registered(server)
    const users = (await server.admin.get('/users')).json as { id: string; email: string }[]
    const id = users.find(({ email }) => email === NEW.email)?.id
    await succeed(server.admin.patch(`/users/${id}`, { disabled: true }))
    expect((await verify(server, token)).json).toMatchObject({ detail: 'Account disabled' })
    await succeed(server.admin.patch(`/users/${id}`, { disabled: false }))
    expect((await verify(server, token)).status).toBe(200)
  })
})

describe('asking for the link again', () => {
  const resend = (server: AccountsServer, body: object = NEW) => server.stranger.post('/auth/resend-verification', body)

  test('takes the password and sends another, once a minute', async () => {
    await using server = await startAccounts({ mail: mail() })
    const first = await registered(server)
    expect((await resend(server)).json).toEqual({ status: 'sent' })
    const second = tokenIn((await server.mail.waitFor(NEW.email)).link)
    const soon = await resend(server)
    expect([soon.status, soon.json]).toMatchObject([429, { detail: 'Please wait before requesting another email' }])
    expect(soon.headers['retry-after']).toBe('60')
    server.clock.advance(60_000)
    expect((await resend(server)).status).toBe(200)
    expect((await verify(server, second)).status).toBe(200)
    expect((await verify(server, first)).json).toMatchObject(linkNotValid)
  })

  test('tells nobody without the password whether there is such an account', async () => {
    await using server = await startAccounts({ mail: mail() })
    await registered(server)
    for (const body of [
      { ...NEW, password: 'wrong' },
      { ...NEW, email: 'nobody@example.com' },
    ]) {
      const answer = await resend(server, body)
      expect([answer.status, answer.json]).toMatchObject([401, { detail: 'Invalid credentials' }])
    }
    expect(await server.mail.messages()).toHaveLength(1)
  })

  test('is pointless once the account is verified', async () => {
    await using server = await startAccounts({ mail: mail() })
    await verify(server, await registered(server))
    expect((await resend(server)).json).toMatchObject({ detail: 'Account already verified' })
  })

  test('does not start the minute when the mail failed', async () => {
    await using server = await startAccounts({ mail: mail() })
    await registered(server)
    await server.mail.setMode('refuse')
    expect((await resend(server)).status).toBe(503)
    await server.mail.setMode('accept')
    expect((await resend(server)).status).toBe(200)
  })
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: registering`, () => {
    const databases = useDatabases(kind)

    test('one address ten times at once makes one account', async () => {
      await using server = await startAccounts({ database: await databases.create(), mail: mail() })
      const bodies = Array.from({ length: 10 }, (_, i) => ({
        ...NEW,
        email: i % 2 ? 'new@example.com' : 'NEW@example.com',
      }))
      const answers = await Promise.all(bodies.map((body) => register(server, body)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 400)])
      for (const { status, json } of answers)
        if (status === 400) expect(json).toMatchObject({ detail: 'Registration failed' })
      expect(await server.audit('user.register')).toHaveLength(1)
      expect(await server.mail.messages()).toHaveLength(1)
    })

    test('different addresses of one name at once get different handles', async () => {
      const env = { SVCD_TEST_MODE: '1' }
      await using server = await startAccounts({ database: await databases.create(), env })
      const emails = Array.from({ length: 8 }, (_, i) => `ann@${i}.example.com`)
      await Promise.all(emails.map((email) => succeed(register(server, { email, password: PASSWORD }))))
      const rows = await server.storage.db.selectFrom('users').select('handle').where('email', 'in', emails).execute()
      expect(rows.map(({ handle }) => handle).toSorted()).toEqual([
        'ann',
        ...Array.from({ length: 7 }, (_, i) => `ann-${i + 2}`),
      ])
    })

    test('a verification link used five times at once signs in once', async () => {
      await using server = await startAccounts({ database: await databases.create(), mail: mail() })
      const token = await registered(server)
      const answers = await Promise.all(Array.from({ length: 5 }, () => verify(server, token)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
    })
  })
}
