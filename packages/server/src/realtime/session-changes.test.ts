import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeWorkspace } from '../testing/live-workspace.ts'
import { type AccountsServer, field, startAccounts, succeed } from '../testing/start-accounts.ts'

let server: AccountsServer
beforeAll(async () => {
  server = await startAccounts()
})
afterAll(() => server[Symbol.asyncDispose]())

const HOUR_MS = 3_600_000

test('signing out closes the sockets of that session with 4001, and no others', async () => {
  const ann = await server.person('ann')
  const elsewhere = await server.signIn(ann.email, ann.password)
  const [first, second, other] = await Promise.all([
    server.socket(ann.token),
    server.socket(ann.token),
    server.socket(elsewhere.token),
  ])
  await succeed(ann.post('/auth/logout'))
  expect(await first.closed).toMatchObject({ code: 4001 })
  expect(await second.closed).toMatchObject({ code: 4001 })
  await other.roundTrip()
})

test('a socket lives as long as the token, and a refresh puts its end off', async () => {
  await using server = await startAccounts({ env: { SVCD_ACCESS_TOKEN_HOURS: '2000' } })
  const bob = await server.person('bob')
  const other = await server.signIn(bob.email, bob.password)
  const [refreshed, left] = await Promise.all([server.socket(bob.token), server.socket(other.token)])
  await Promise.all([refreshed.next('server_schedule'), left.next('server_schedule')])
  server.clock.advance(1000 * HOUR_MS) // beyond what a timer can wait for
  await Promise.all([refreshed.roundTrip(), left.roundTrip()])
  await succeed(bob.post('/auth/refresh'))
  server.clock.advance(1000 * HOUR_MS)
  expect(await left.closed).toMatchObject({ code: 4002 })
  await refreshed.roundTrip()
  server.clock.advance(1000 * HOUR_MS)
  expect(await refreshed.closed).toMatchObject({ code: 4002 })
})

test('an account that is disabled or deleted loses its sockets with 4001', async () => {
  for (const [name, end] of [
    ['cid', (id: string) => server.admin.patch(`/users/${id}`, { disabled: true })],
    ['dan', (id: string) => server.admin.delete(`/users/${id}`)],
  ] as const) {
    const person = await server.person(name)
    const socket = await server.socket(person.token)
    await socket.next('server_schedule')
    expect((await end(person.id)).status).toBeLessThan(300)
    expect(await socket.closed).toMatchObject({ code: 4001 })
  }
})

test('who has to choose a new password from now on is cut off', async () => {
  const eve = await server.person('eve')
  const socket = await server.socket(eve.token)
  await socket.next('server_schedule')
  await server.storage.transaction((tx) => server.app.accounts.change(tx, eve.id, { mustChangePassword: true }))
  expect(await socket.closed).toMatchObject({ code: 4004 })
})

test('a change of groups counts for the very next command', async () => {
  const fay = await server.person('fay')
  const workspaceId = await makeWorkspace(server.admin)
  const team = field(await succeed(server.admin.post('/groups', { name: 'team' })), 'id')
  await succeed(server.admin.post(`/workspaces/${workspaceId}/groups`, { group_id: team }))
  const socket = await server.socket(fay.token, { caps: ['req'] })
  await socket.next('server_schedule')
  const connect = async (req: string) => {
    socket.send({ cmd: 'workspace_connect', workspaceId, req })
    return (await socket.next('error', (frame) => frame.req === req)).code
  }
  for (const round of ['first', 'second', 'third']) {
    expect(await connect(`${round} stranger`)).toBe('forbidden')
    await succeed(server.admin.post(`/groups/${team}/members`, { user_id: fay.id }))
    expect(await connect(`${round} member`)).toBe('start_failed') // allowed, and no engine answers here
    await succeed(server.admin.delete(`/groups/${team}/members/${fay.id}`))
  }
  expect(await connect('at last')).toBe('forbidden')
})

test('what comes on a socket counts as activity of the session and its owner', async () => {
  const hal = await server.person('hal')
  const socket = await server.socket(hal.token)
  await socket.next('server_schedule')
  server.clock.advance(10 * 60_000)
  const nowSeconds = server.clock.nowMs() / 1000
  socket.send({ cmd: 'heartbeat' })
  await socket.roundTrip()
  server.clock.advance(2_000)
  const seen = async () => {
    const row = await server.storage.db
      .selectFrom('users')
      .select('last_activity_at')
      .where('id', '=', hal.id)
      .executeTakeFirst()
    return Number(row?.last_activity_at)
  }
  await expect.poll(seen).toBe(nowSeconds)
})

test('another signing secret ends every socket with 4001, and any other change of settings none', async () => {
  await using server = await startAccounts()
  const socket = await server.socket(server.admin.token)
  await server.reconfigure({ SVCD_WEBSOCKET_DEBUG: 'true' })
  await socket.roundTrip()
  await server.reconfigure({ SVCD_JWT_SECRET: 'another secret that is long enough to be one' })
  expect(await socket.closed).toMatchObject({ code: 4001 })
})
