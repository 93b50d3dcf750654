import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AccountsServer, ADMIN, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

const HOUR_MS = 3_600_000
const NOT_PENDING = [404, { detail: 'Invitation not found or not pending' }]

const invite = async (server: AccountsServer, email: string) =>
  field(await succeed(server.admin.post('/invitations', { email })), 'id')

async function page(person: Pick<Person, 'get'>, query: string) {
  const answer = await succeed(person.get(`/invitations${query}`))
  return answer.json as { invitations: { email: string }[] } & Record<string, unknown>
}

const emails = async (server: AccountsServer, query: string) =>
  (await page(server.admin, query)).invitations.map(({ email }) => email)

const count = async (server: AccountsServer) =>
  (await server.storage.db.selectFrom('invitations').select('id').execute()).length

test('an invitation is mailed with a link, by whom, and how long it lives', async () => {
  await using server = await startAccounts({ mail: true })
  const answer = await server.admin.post('/invitations', { email: ' Ann@Example.com ' })
  const id = field(answer, 'id')
  expect([answer.status, answer.json]).toEqual([
    200,
    {
      id,
      email: 'ann@example.com',
      invited_by: server.admin.id,
      invited_by_email: ADMIN.email,
      status: 'pending',
      created_at: '2026-01-01 00:00:00',
      accepted_at: null,
    },
  ])
  const letter = await server.mail.waitFor('ann@example.com')
  expect(letter.link).toContain('/#/accept-invite?token=')
  expect(letter.text).toContain(ADMIN.email)
  expect(letter.text).toContain('72 hours')
  expect(await server.audit('invitation.create')).toEqual([{ email: 'ann@example.com' }])
})

test('invitations are a plain list, the newest first, and a page when one is asked for', async () => {
  await using server = await startAccounts({ mail: true })
  expect((await server.admin.get('/invitations')).json).toEqual([])
  for (const name of ['bob', 'ann', 'carl']) {
    await invite(server, `${name}@example.com`)
    server.clock.advance(1000)
  }
  const [carl, ann, bob] = ['carl', 'ann', 'bob'].map((name) => `${name}@example.com`)
  expect((await server.admin.get('/invitations')).json).toMatchObject([{ email: carl }, { email: ann }, { email: bob }])
  await succeed(server.admin.delete(`/invitations/${await idOf(server, 'bob@example.com')}`))
  expect(await page(server.admin, '?page_size=2&q=B')).toMatchObject({
    invitations: [{ email: bob, status: 'revoked' }],
    page: 1,
    page_size: 2,
    total: 1,
    pending_count: 2,
  })
  expect(await page(server.admin, '?page=2')).toMatchObject({ invitations: [], page: 2, page_size: 10, total: 3 })
  expect(await emails(server, '?page=1')).toEqual([carl, ann, bob])
  expect(await emails(server, '?page=1&order=asc')).toEqual([bob, ann, carl])
  expect(await emails(server, '?page=1&sort=email&order=asc')).toEqual([ann, bob, carl])
  expect(await emails(server, '?page=1&sort=colour&order=up')).toEqual([carl, ann, bob])
  expect(await emails(server, '?page=2&page_size=2&sort=email')).toEqual([ann])
  expect(await page(server.admin, '?page=0&page_size=1000')).toMatchObject({ page: 1, page_size: 200 })
})

test('invitations sort by who sent them', async () => {
  await using server = await startAccounts({ mail: true })
  const zoe = await server.person('zoe', { groups: ['admins'] })
  const eve = await server.person('eve', { groups: ['admins'] })
  await succeed(zoe.post('/invitations', { email: 'a@example.com' }))
  await succeed(eve.post('/invitations', { email: 'b@example.com' }))
  expect(await emails(server, '?page=1&sort=invited_by&order=asc')).toEqual(['b@example.com', 'a@example.com'])
  expect(await emails(server, '?page=1&sort=invited_by')).toEqual(['a@example.com', 'b@example.com'])
})

test('q is a literal part of the address', async () => {
  await using server = await startAccounts({ mail: true })
  for (const name of ['snake_case', 'snakexcase', '100%']) await invite(server, `${name}@example.com`)
  expect(await emails(server, '?page=1&q=E_C')).toEqual(['snake_case@example.com'])
  expect(await emails(server, '?page=1&q=%25')).toEqual(['100%@example.com'])
  expect(await emails(server, '?page=1&q=')).toHaveLength(3)
})

test('only an address that has neither account nor pending invitation can be invited', async () => {
  await using server = await startAccounts({ mail: true })
  await invite(server, 'ann@example.com')
  const refusals: [string, string][] = [
    ['no address', 'Must be a valid email address'],
    ['root@EXAMPLE.com', 'A user with this email already exists'],
    ['ANN@example.com', 'A pending invitation for this email already exists'],
  ]
  for (const [email, detail] of refusals) {
    const answer = await server.admin.post('/invitations', { email })
    expect([answer.status, answer.json]).toMatchObject([400, { detail }])
  }
  expect((await server.admin.post('/invitations', {})).status).toBe(422)
  expect([await count(server), (await server.mail.messages()).length]).toEqual([1, 1])
})

test('when the letter cannot be sent there is no invitation, and it can be tried again', async () => {
  await using server = await startAccounts({ mail: true })
  await server.mail.setMode('refuse')
  const failed = await server.admin.post('/invitations', { email: 'ann@example.com' })
  expect([failed.status, failed.json]).toMatchObject([503, { code: 'mail_failed' }])
  expect([await count(server), await server.audit('invitation.create')]).toEqual([0, []])
  await server.mail.setMode('accept')
  await invite(server, 'ann@example.com')
})

test('a pending invitation is sent again with a fresh link, also when the first has expired', async () => {
  await using server = await startAccounts({ mail: true, env: { SVCD_INVITE_EXPIRE_HOURS: '1' } })
  const id = await invite(server, 'ann@example.com')
  const first = await server.mail.waitFor('ann@example.com')
  server.clock.advance(2 * HOUR_MS)
  const eve = await server.person('eve', { groups: ['admins'] })
  const answer = await eve.post(`/invitations/${id}/resend`)
  expect([answer.status, answer.json]).toEqual([200, { status: 'resent' }])
  const second = await server.mail.waitFor('ann@example.com')
  expect(second.link).not.toBe(first.link)
  expect([second.text.includes(ADMIN.email), second.text.includes('1 hour')]).toEqual([true, true])
  expect(await server.audit('invitation.resend')).toEqual([{ email: 'ann@example.com' }])
})

test('a resend whose letter fails says so and is not recorded', async () => {
  await using server = await startAccounts({ mail: true })
  const id = await invite(server, 'ann@example.com')
  await server.mail.setMode('refuse')
  expect((await server.admin.post(`/invitations/${id}/resend`)).status).toBe(503)
  expect(await server.audit('invitation.resend')).toEqual([])
})

test('a revoked invitation stays in the list, cannot be sent again, and makes room for another', async () => {
  await using server = await startAccounts({ mail: true })
  const id = await invite(server, 'ann@example.com')
  const revoked = await server.admin.delete(`/invitations/${id}`)
  expect([revoked.status, revoked.json]).toEqual([200, { status: 'revoked' }])
  const late = [
    await server.admin.delete(`/invitations/${id}`),
    await server.admin.post(`/invitations/${id}/resend`),
    await server.admin.delete(`/invitations/${randomUUID()}`),
    await server.admin.post(`/invitations/${randomUUID()}/resend`),
  ]
  for (const { status, json } of late) expect([status, json]).toMatchObject(NOT_PENDING)
  await invite(server, 'ann@example.com')
  expect((await server.admin.get('/invitations')).json).toHaveLength(2)
  expect(await server.audit('invitation.revoke')).toEqual([{ email: 'ann@example.com' }])
  expect(await server.mail.messages()).toHaveLength(2)
})

test('an operator who turns invitations off stops sending, not revoking', async () => {
  await using server = await startAccounts({ mail: true })
  const id = await invite(server, 'ann@example.com')
  await server.reconfigure({ SVCD_DISABLE_INVITES: 'yes' })
  const refused = [
    await server.admin.post('/invitations', { email: 'no address' }),
    await server.admin.post(`/invitations/${id}/resend`),
  ]
  for (const { status, json } of refused) {
    expect([status, json]).toMatchObject([403, { detail: 'Invitations are disabled', code: 'not_offered' }])
  }
  expect((await server.admin.get('/invitations')).json).toHaveLength(1)
  await succeed(server.admin.delete(`/invitations/${id}`))
})

test('invitations are for holders of manage-invitations', async () => {
  await using server = await startAccounts({ mail: true })
  const id = await invite(server, 'carl@example.com')
  const ann = await server.person('ann')
  const answers = [
    await ann.get('/invitations'),
    await ann.post('/invitations', { email: 'bob@example.com' }),
    await ann.post(`/invitations/${id}/resend`),
    await ann.delete(`/invitations/${id}`),
  ]
  for (const { status, json } of answers) expect([status, json]).toMatchObject([403, { detail: 'Permission denied' }])
  expect((await server.stranger.get('/invitations')).status).toBe(401)
})

async function idOf(server: AccountsServer, email: string): Promise<string> {
  const row = server.storage.db.selectFrom('invitations').select('id').where('email', '=', email)
  return (await row.executeTakeFirstOrThrow()).id
}
