import { describe, expect, test } from 'vitest'
import { useMailServer } from '../../testing/mail-server.ts'
import {
  type AccountsServer,
  field,
  PASSWORD,
  type Person,
  startAccounts,
  succeed,
} from '../../testing/start-accounts.ts'
import { startServer } from '../../testing/start-server.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const mail = useMailServer()
const HOUR_MS = 3_600_000
const NEXT = 'an even better password'

const changePassword = (person: Person, next = NEXT, current = PASSWORD) =>
  person.post('/auth/change-password', { current_password: current, new_password: next })
const login = (server: AccountsServer, identifier: string, password: string) =>
  server.stranger.post('/auth/login', { identifier, password })

describe('changing the password', () => {
  test('ends every session, this one included', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const other = await server.signIn(ann.email, PASSWORD)
    for (const { token } of [ann, other]) expect((await server.as(token).get('/auth/me')).status).toBe(200)
    const answer = await changePassword(ann)
    expect([answer.status, answer.json]).toEqual([200, { status: 'updated' }])
    for (const { token } of [ann, other]) {
      expect((await server.as(token).get('/auth/me')).json).toMatchObject({ detail: 'Token has been revoked' })
      expect((await server.as(token).post('/auth/refresh')).status).toBe(401)
    }
    expect([(await login(server, 'ann', PASSWORD)).status, (await login(server, 'ann', NEXT)).status]).toEqual([
      401, 200,
    ])
    expect((await server.audit('user.password.change')).at(-1)).toEqual({ via: 'self-service' })
    expect((await server.audit('session.revoke')).at(-1)).toEqual({ reason: 'password-change' })
  })

  test('takes the current one', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const answer = await changePassword(ann, NEXT, 'wrong')
    expect([answer.status, answer.json]).toMatchObject([
      401,
      { detail: 'Current password is incorrect', code: 'invalid_credentials' },
    ])
    expect((await ann.get('/auth/me')).status).toBe(200)
  })

  test.each([
    ['length', { SVCD_MIN_PASSWORD_LENGTH: '20' }, 'nineteen characters', 'Password must be at least 20 characters'],
    [
      'every missing class in one sentence',
      { SVCD_PASSWORD_REQUIRE_UPPER: '1', SVCD_PASSWORD_REQUIRE_DIGIT: '2' },
      NEXT,
      'Password must contain at least 1 uppercase letter, at least 2 digits',
    ],
    ['the current one', { SVCD_PASSWORD_HISTORY_COUNT: '1' }, PASSWORD, 'Password must differ from the current one'],
    [
      'a recent one',
      { SVCD_PASSWORD_HISTORY_COUNT: '1' },
      `first ${PASSWORD}`,
      'Password was used recently; choose another one',
    ],
    [
      'how much is different',
      { SVCD_PASSWORD_MIN_CHANGED: '4' },
      `${PASSWORD}123`,
      'Password must differ from the current one in at least 4 characters',
    ],
    ['72 bytes', {}, 'é'.repeat(37), 'Password must not exceed 72 bytes'],
  ])('keeps to the policy: %s', async (_, env, next, detail) => {
    await using server = await startAccounts({ env: { SVCD_PASSWORD_HISTORY_COUNT: '1' } })
    const ann = await server.person('ann')
    await server.reconfigure(env)
    const answer = await changePassword(ann, next)
    expect([answer.status, answer.json]).toMatchObject([400, { detail, code: 'password_rejected' }])
    expect((await ann.get('/auth/me')).status).toBe(200)
  })

  test('keeps to the minimum age, except for the change somebody was told to make', async () => {
    await using server = await startAccounts({ env: { SVCD_PASSWORD_MIN_AGE_HOURS: '24' } })
    const ann = await server.person('ann') // its first change was forced, and allowed
    server.clock.advance(HOUR_MS)
    expect((await changePassword(ann)).json).toMatchObject({
      detail: 'Password can be changed only 24 hours after it was set; try again in 23 hours',
    })
    server.clock.advance(22.5 * HOUR_MS)
    const later = await server.signIn(ann.email, PASSWORD)
    expect((await changePassword(later)).json).toMatchObject({ detail: expect.stringContaining('again in 1 hour') })
    server.clock.advance(HOUR_MS / 2)
    expect((await changePassword(later)).status).toBe(200)
  })

  test('remembers as many as the history asks for, and no more', async () => {
    await using server = await startAccounts({ env: { SVCD_PASSWORD_HISTORY_COUNT: '2' } })
    await server.person('ann')
    const passwords = [PASSWORD, 'password number two', 'password number three', 'password number four']
    for (const [i, next] of passwords.entries()) {
      const before = passwords[i - 1]
      if (before !== undefined)
        await succeed(changePassword(await server.signIn('ann@example.com', before), next, before))
    }
    const ann = await server.signIn('ann@example.com', 'password number four')
    for (const used of ['password number three', 'password number two']) {
      expect((await changePassword(ann, used, 'password number four')).status).toBe(400)
    }
    expect((await changePassword(ann, PASSWORD, 'password number four')).status).toBe(200)
    expect(await server.storage.db.selectFrom('password_history').select('id').execute()).toHaveLength(2)
  })
})

describe('changing the address', () => {
  test('needs the password, sends a link to the new one and a notice to the old one, and keeps the session', async () => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    const answer = await ann.post('/auth/change-email', { email: ' Ann2@Example.com', password: PASSWORD })
    expect([answer.status, answer.json]).toEqual([200, { status: 'updated', needs_verification: true }])
    expect((await ann.get('/auth/me')).json).toMatchObject({ email: 'ann2@example.com', handle: 'ann' })
    expect((await login(server, 'ann2@example.com', PASSWORD)).json).toMatchObject({ code: 'account_not_verified' })
    const { link } = await server.mail.waitFor('ann2@example.com')
    await succeed(server.stranger.post('/auth/verify', { token: link?.split('token=')[1] }))
    expect((await login(server, 'ann2@example.com', PASSWORD)).status).toBe(200)
    expect((await server.mail.waitFor('ann@example.com')).link).toBeUndefined()
    expect(await server.audit('user.email.change')).toEqual([{ email: 'ann2@example.com' }])
  })

  test.each([
    ['a wrong password', { email: 'b@example.com', password: 'wrong' }, 401, 'Password is incorrect'],
    ['no address', { email: 'b', password: PASSWORD }, 400, 'Must be a valid email address'],
    ['an address in use', { email: 'ROOT@example.com', password: PASSWORD }, 400, 'Email already in use'],
    ['the address it is', { email: 'ann@example.com', password: PASSWORD }, 400, 'Email already in use'],
  ])('with %s is refused and changes nothing', async (_, body, status, detail) => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    const answer = await ann.post('/auth/change-email', body)
    expect([answer.status, answer.json]).toMatchObject([status, { detail }])
    expect((await login(server, 'ann@example.com', PASSWORD)).status).toBe(200)
    expect(await server.mail.messages()).toEqual([])
  })

  test('does not happen when the mail cannot be sent', async () => {
    await using server = await startAccounts({ mail: mail() })
    const ann = await server.person('ann')
    await server.mail.setMode('refuse')
    expect((await ann.post('/auth/change-email', { email: 'b@example.com', password: PASSWORD })).status).toBe(503)
    expect((await ann.get('/auth/me')).json).toMatchObject({ email: 'ann@example.com' })
    expect(await server.audit('user.email.change')).toEqual([])
  })
})

describe('changing the handle', () => {
  test('needs the password and a free one', async () => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const answer = await ann.post('/auth/change-handle', { handle: 'anna', password: PASSWORD })
    expect([answer.status, answer.json]).toEqual([200, { status: 'updated', handle: 'anna' }])
    expect((await ann.get('/auth/me')).json).toMatchObject({ handle: 'anna' })
    expect((await login(server, 'anna', PASSWORD)).status).toBe(200)
    expect(await server.audit('user.handle.change')).toEqual([{ handle: 'anna' }])
    expect((await ann.post('/auth/change-handle', { handle: 'anna', password: PASSWORD })).status).toBe(200)
  })

  test.each([
    ['', 'Handle cannot be empty'],
    ['x'.repeat(33), 'Handle must be 32 characters or fewer'],
    ['.hidden', 'Handle cannot start with a dot'],
    ['.users', "'.users' is reserved"],
    ['svc', "'svc' is reserved"],
    ['work', "'work' is reserved"],
    ['Ann', 'Handle may hold only lowercase letters, digits, dots, hyphens and underscores'],
    ['a/b', 'Handle may hold only lowercase letters, digits, dots, hyphens and underscores'],
    ['root', "'root' is already taken"],
  ])('to "%s" is refused: %s', async (handle, detail) => {
    await using server = await startAccounts()
    const ann = await server.person('ann')
    const answer = await ann.post('/auth/change-handle', { handle, password: PASSWORD })
    expect([answer.status, answer.json]).toMatchObject([400, { detail }])
  })
})

test('an account made by an administrator with a mail gets its first password from its owner', async () => {
  await using server = await startAccounts({ mail: mail() })
  await succeed(server.admin.post('/users', { email: 'ann@example.com', send_verification_email: true }))
  const { link } = await server.mail.waitFor('ann@example.com')
  const verified = await succeed(server.stranger.post('/auth/verify', { token: link?.split('token=')[1] }))
  expect(verified.json).toMatchObject({ must_change_password: true })
  const ann = server.as(field(verified, 'access_token'))
  expect((await ann.get('/auth/me')).status).toBe(403)
  expect((await ann.post('/auth/change-password', { current_password: '', new_password: 'short' })).status).toBe(400)
  await succeed(ann.post('/auth/change-password', { current_password: '', new_password: NEXT }))
  expect((await login(server, 'ann', NEXT)).json).toMatchObject({ must_change_password: false })
})

test('an account without a password changes nothing of itself here', async () => {
  await using server = await startServer()
  const { json } = await server.request('POST', '/api/v1/auth/local')
  const headers = {
    authorization: `Bearer ${(json as { access_token: string }).access_token}`,
    'content-type': 'application/json',
  }
  for (const [path, body] of [
    ['change-password', { current_password: '', new_password: NEXT }],
    ['change-email', { email: 'b@example.com', password: '' }],
    ['change-handle', { handle: 'b', password: '' }],
  ] as const) {
    const answer = await server.request('POST', `/api/v1/auth/${path}`, { headers, body: JSON.stringify(body) })
    expect([answer.status, answer.json]).toMatchObject([
      403,
      { detail: 'Account is managed by your identity provider' },
    ])
  }
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: changes that come together`, () => {
    const databases = useDatabases(kind)

    test('one address goes to one of two people', async () => {
      await using server = await startAccounts({ database: await databases.create(), mail: mail() })
      const people = [await server.person('ann'), await server.person('bob')]
      const change = { email: 'wanted@example.com', password: PASSWORD }
      const answers = await Promise.all(people.map((person) => person.post('/auth/change-email', change)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 429]) // one letter a minute to an address
    })

    test('one handle goes to one of two people', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const people = [await server.person('ann'), await server.person('bob')]
      const change = { handle: 'wanted', password: PASSWORD }
      const answers = await Promise.all(people.map((person) => person.post('/auth/change-handle', change)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    })

    test('of several new passwords one stays', async () => {
      await using server = await startAccounts({ database: await databases.create() })
      const ann = await server.person('ann')
      const passwords = Array.from({ length: 4 }, (_, i) => `password number ${i}`)
      const answers = await Promise.all(passwords.map((next) => changePassword(ann, next)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? ''
      expect((await login(server, 'ann', winner)).status).toBe(200)
    })

    test('a change begun with a password that is no longer good does not happen', async () => {
      await using server = await startAccounts({ database: await databases.create(), mail: mail() })
      const ann = await server.person('ann')
      const [reset, renamed] = await server.writeInOrder([
        () => server.admin.patch(`/users/${ann.id}`, { password: NEXT }),
        () => ann.post('/auth/change-handle', { handle: 'thief', password: PASSWORD }),
        () => ann.post('/auth/change-email', { email: 'thief@example.com', password: PASSWORD }),
      ])
      expect([reset?.status, renamed?.status]).toEqual([200, 409])
      const users = (await server.admin.get('/users')).json as { id: string; email: string; handle: string }[]
      expect(users.find(({ id }) => id === ann.id)).toMatchObject({ email: 'ann@example.com', handle: 'ann' })
      expect(await server.audit('user.email.change')).toEqual([])
    })
  })
}
