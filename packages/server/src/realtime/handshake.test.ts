import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AccountsServer, ADMIN, type Person, startAccounts, succeed } from '../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
beforeAll(async () => {
  server = await startAccounts({ env: { SVCD_PASSWORD_MAX_AGE_DAYS: '30' } })
  ann = await server.person('ann')
})
afterAll(() => server[Symbol.asyncDispose]())

test('a token in the subprotocol opens a socket, and only `bearer` is answered', async () => {
  const socket = await server.socket(ann.token)
  expect(socket.ws.protocol).toBe('bearer')
  expect(await socket.next('server_schedule')).toEqual({ type: 'server_schedule', schedules: [] })
  await socket.close()
  expect(await socket.closed).toEqual({ code: 1000, reason: '' })
})

test('another subprotocol may precede the pair', async () => {
  const socket = await server.socket(undefined, { protocols: ['svc', 'bearer', ann.token] })
  await socket.next('server_schedule')
  expect(socket.ws.protocol).toBe('bearer')
})

test.each([
  ['no token', () => ({})],
  ['a token in the address', () => ({ path: `/ws?token=${ann.token}` })],
  ['a token in the Authorization header', () => ({ headers: { authorization: `Bearer ${ann.token}` } })],
  ['a word that is no token', () => ({ protocols: ['bearer', 'nonsense'] })],
  ['a token with a wrong signature', () => ({ protocols: ['bearer', `${ann.token.slice(0, -6)}abcdef`] })],
])('%s is refused with 4001 after the handshake', async (_, options) => {
  const socket = await server.socket(undefined, options())
  expect(await socket.closed).toMatchObject({ code: 4001 })
  expect(socket.frames).toEqual([])
  expect(JSON.stringify(server.log.records)).not.toContain(ann.token)
})

test.each(['/', '/ws/', '/ws/consent-decider', '/ws/egress-sidecar', '/api/v1/version', '/wss'])(
  'there is no socket at %s: 4044',
  async (path) => {
    const socket = await server.socket(ann.token, { path })
    expect(await socket.closed).toMatchObject({ code: 4044 })
    expect(socket.ws.protocol).toBe('bearer')
  },
)

test('a session that was ended is refused with 4001', async () => {
  const bob = await server.person('bob')
  await succeed(bob.post('/auth/logout'))
  const socket = await server.socket(bob.token)
  expect(await socket.closed).toMatchObject({ code: 4001, reason: 'Token has been revoked' })
})

test('who must choose a new password is refused with 4004', async () => {
  const password = 'the first one, to be changed'
  await succeed(server.admin.post('/users', { email: 'cid@example.com', password }))
  const cid = await server.signIn('cid@example.com', password)
  const socket = await server.socket(cid.token)
  expect(await socket.closed).toMatchObject({ code: 4004 })
})

test('a disabled account is refused with 4001', async () => {
  const dan = await server.person('dan')
  await succeed(server.admin.patch(`/users/${dan.id}`, { disabled: true }))
  expect(await (await server.socket(dan.token)).closed).toMatchObject({ code: 4001 })
})

test('an expired token is refused with 4002, so that the client refreshes it', async () => {
  const { token } = await server.signIn(ADMIN.email, ADMIN.password)
  server.clock.advance(400 * 86_400_000)
  expect(await (await server.socket(token)).closed).toMatchObject({ code: 4002 })
})

test('an upgrade that is none is answered as HTTP, and h2c is passed over', async () => {
  const upgrade = (headers: Record<string, string>) =>
    server.request('GET', '/api/v1/version', { headers: { connection: 'Upgrade', ...headers } })
  expect((await upgrade({ upgrade: 'websocket' })).status).toBe(400)
  expect((await upgrade({ upgrade: 'h2c' })).status).toBe(200)
})
