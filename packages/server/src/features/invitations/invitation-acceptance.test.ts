import { describe, expect, test } from 'vitest'
import { type AccountsServer, field, PASSWORD, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { storageKinds, useDatabases } from '../../testing/storages.ts'

const HOUR_MS = 3_600_000
const ANN = 'ann@example.com'
const NO_LONGER_VALID = [400, { detail: 'Invitation is no longer valid', code: 'link_not_valid' }]

/** An invitation and the token of the link that was mailed for it. */
async function invited(server: AccountsServer, email = ANN): Promise<{ id: string; token: string }> {
  const id = field(await succeed(server.admin.post('/invitations', { email })), 'id')
  return { id, token: await mailedToken(server, email) }
}

async function mailedToken(server: AccountsServer, email: string): Promise<string> {
  const { link = '' } = await server.mail.waitFor(email)
  return link.slice(link.indexOf('token=') + 'token='.length)
}

const accept = (server: AccountsServer, token: string, password = PASSWORD) =>
  server.stranger.post('/auth/accept-invite', { token, password })

const accountsOf = (server: AccountsServer, email: string) =>
  server.storage.db.selectFrom('users').select(['id', 'verified']).where('email', '=', email).execute()

test('whoever accepts has a verified account, is a member, and is signed in', async () => {
  await using server = await startAccounts({ mail: true })
  const { id, token } = await invited(server)
  server.clock.advance(HOUR_MS)
  const answer = await accept(server, token)
  const session = field(answer, 'access_token')
  expect([answer.status, answer.json]).toEqual([
    200,
    { status: 'accepted', access_token: session, token_type: 'bearer', must_change_password: false },
  ])
  const [account] = await accountsOf(server, ANN)
  expect(account?.verified).toBe(1)
  expect((await server.as(session).get('/auth/me')).json).toEqual({ id: account?.id, email: ANN, handle: 'ann' })
  const members = await server.admin.get(`/groups/${await server.groupId('members')}/members`)
  expect(members.json).toContainEqual({ id: account?.id, email: ANN, handle: 'ann', source: 'manual' })
  expect((await server.admin.get('/invitations')).json).toMatchObject([
    { id, status: 'accepted', created_at: '2026-01-01 00:00:00', accepted_at: '2026-01-01 01:00:00' },
  ])
  expect((await server.signIn(ANN, PASSWORD)).id).toBe(account?.id)
})

test('an acceptance is recorded as what its owner did', async () => {
  await using server = await startAccounts({ mail: true })
  const { id, token } = await invited(server)
  await succeed(accept(server, token))
  const [account] = await accountsOf(server, ANN)
  const rows = await server.storage.db
    .selectFrom('audit_events')
    .select(['event', 'target_type', 'target_id', 'detail'])
    .where('actor_email', '=', ANN)
    .where('actor_id', '=', account?.id ?? '')
    .orderBy('id')
    .execute()
  expect(rows.map(({ detail, ...row }) => ({ ...row, detail: JSON.parse(detail) }))).toEqual([
    {
      event: 'user.create',
      target_type: 'user',
      target_id: account?.id,
      detail: { email: ANN, status: 'created', via: 'invite' },
    },
    { event: 'invitation.accept', target_type: 'invitation', target_id: id, detail: { email: ANN } },
    { event: 'login', target_type: 'user', target_id: account?.id, detail: { via: 'invite' } },
  ])
})

test('a link that we did not make, or that is too old, is refused', async () => {
  await using server = await startAccounts({ mail: true, env: { SVCD_INVITE_EXPIRE_HOURS: '2' } })
  const { id, token } = await invited(server)
  const [header, payload] = token.split('.')
  server.clock.advance(HOUR_MS)
  await succeed(server.admin.post(`/invitations/${id}/resend`))
  const fresh = await mailedToken(server, ANN)
  server.clock.advance(HOUR_MS)
  for (const bad of ['', 'nonsense', `${header}.${payload}.AAAA`, server.admin.token, token]) {
    const answer = await accept(server, bad)
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { detail: 'Invalid or expired invitation token', code: 'link_not_valid' },
    ])
  }
  expect((await accept(server, fresh)).status).toBe(200)
})

test('a link works once', async () => {
  await using server = await startAccounts({ mail: true })
  const { token } = await invited(server)
  await succeed(accept(server, token))
  const again = await accept(server, token, 'another perfectly good one')
  expect([again.status, again.json]).toMatchObject(NO_LONGER_VALID)
  await server.signIn(ANN, PASSWORD)
})

test('a revoked invitation cannot be accepted, also after another one to the same address', async () => {
  await using server = await startAccounts({ mail: true })
  const { id, token } = await invited(server)
  await succeed(server.admin.delete(`/invitations/${id}`))
  const answer = await accept(server, token)
  expect([answer.status, answer.json]).toMatchObject(NO_LONGER_VALID)
  const second = await invited(server)
  expect((await accept(server, token)).status).toBe(400)
  expect((await accept(server, second.token)).status).toBe(200)
})

test('a password that breaks the policy is refused, and the link stays good', async () => {
  await using server = await startAccounts({ mail: true })
  const { token } = await invited(server)
  const weak = await accept(server, token, 'short')
  expect([weak.status, weak.json]).toMatchObject([400, { code: 'password_rejected' }])
  expect(await accountsOf(server, ANN)).toEqual([])
  expect((await accept(server, token)).status).toBe(200)
})

test('whoever got an account in the meantime has nothing to accept', async () => {
  await using server = await startAccounts({ mail: true })
  const { token } = await invited(server)
  await server.person('ann')
  const answer = await accept(server, token, 'another perfectly good one')
  expect([answer.status, answer.json]).toMatchObject([400, { detail: 'An account with this email already exists' }])
  await server.signIn(ANN, PASSWORD)
})

test('an operator who turns passwords or invitations off also closes links that are on their way', async () => {
  await using server = await startAccounts({ mail: true })
  const { token } = await invited(server)
  await server.reconfigure({ SVCD_DISABLE_INVITES: 'yes' })
  const closed = await accept(server, token)
  expect([closed.status, closed.json]).toMatchObject([403, { detail: 'Invitations are disabled', code: 'not_offered' }])
  await server.reconfigure({ SVCD_AUTH_MODES: 'none' })
  const withoutPasswords = await accept(server, token)
  expect([withoutPasswords.status, withoutPasswords.json]).toMatchObject([
    403,
    { detail: 'Password registration is disabled', code: 'not_offered' },
  ])
  expect(await accountsOf(server, ANN)).toEqual([])
  await server.reconfigure({})
  expect((await accept(server, token)).status).toBe(200)
})

test('an acceptance without token or password is refused', async () => {
  await using server = await startAccounts()
  for (const body of [{}, { token: 'x' }, { password: PASSWORD }, { token: 1, password: PASSWORD }]) {
    expect((await server.stranger.post('/auth/accept-invite', body)).status).toBe(422)
  }
})

for (const kind of storageKinds) {
  describe.skipIf(!kind.installed)(`${kind.name}: invitations at the same moment`, () => {
    const databases = useDatabases(kind)

    test('of several acceptances of one link, one makes the account and the others are refused', async () => {
      await using server = await startAccounts({ mail: true, database: await databases.create() })
      const { token } = await invited(server)
      const passwords = [1, 2, 3, 4].map((number) => `${PASSWORD} ${number}`)
      const answers = await Promise.all(passwords.map((password) => accept(server, token, password)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
      expect(await accountsOf(server, ANN)).toHaveLength(1)
      const winner = answers.findIndex(({ status }) => status === 200)
      await server.signIn(ANN, passwords[winner] ?? '')
      for (const event of ['user.create', 'invitation.accept']) {
        expect((await server.audit(event)).filter((row) => JSON.stringify(row).includes(ANN))).toHaveLength(1)
      }
    })

    test('of several invitations of one address, one is sent and the others are refused', async () => {
      await using server = await startAccounts({ mail: true, database: await databases.create() })
      const spellings = [ANN, 'Ann@example.com', ` ${ANN}`, 'ann@EXAMPLE.com']
      const answers = await Promise.all(spellings.map((email) => server.admin.post('/invitations', { email })))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
      expect((await server.admin.get('/invitations')).json).toHaveLength(1)
      expect(await server.audit('invitation.create')).toEqual([{ email: ANN }])
      expect((await accept(server, await mailedToken(server, ANN))).status).toBe(200)
      expect(await server.mail.messages()).toHaveLength(1)
    })

    test('an invitation is either accepted or revoked, never both', async () => {
      await using server = await startAccounts({ mail: true, database: await databases.create() })
      const { id, token } = await invited(server)
      const [accepted, revoked] = await Promise.all([accept(server, token), server.admin.delete(`/invitations/${id}`)])
      const accounts = await accountsOf(server, ANN)
      expect([accepted.status, revoked.status, accounts.length]).toEqual(
        accepted.status === 200 ? [200, 404, 1] : [400, 200, 0],
      )
    })
  })
}
