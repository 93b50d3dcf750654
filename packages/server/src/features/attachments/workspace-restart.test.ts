import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowOnly, connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
let bob: Person

beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine, env: { SVCD_AUDIT_FAIL_CLOSED: 'true' } })
  ann = await server.person('ann')
  bob = await server.person('bob')
})
afterAll(() => server[Symbol.asyncDispose]())

/** A workspace that ann and bob have open. */
async function opened(): Promise<{ id: string; owner: SocketClient; other: SocketClient }> {
  const id = await makeWorkspace(ann)
  await allowOnly(ann, id, [[bob, ['join-workspace']]])
  const [owner, other] = [await server.socket(ann.token, { caps: ['req'] }), await server.socket(bob.token)]
  await connect(owner, id)
  await connect(other, id)
  return { id, owner, other }
}
const events = (socket: SocketClient) => story(socket).filter((what) => what.startsWith('event'))
const containerOf = (id: string) => server.app.lifecycle.requireRunning(id).containerId
const trail = async (id: string) => {
  const { json } = await succeed(server.admin.get(`/events/containers?workspace_id=${id}`))
  const items: { event: string; cause: string }[] = Reflect.get(Object(json), 'items')
  return items.map(({ event, cause }) => `${event} ${cause}`).toReversed()
}
/** From now on the database takes no container row. */
const breakTrail = () =>
  server.storage.transaction((tx) => tx.schema.alterTable('container_events').renameTo('elsewhere').execute())
const mendTrail = () =>
  server.storage.transaction((tx) => tx.schema.alterTable('elsewhere').renameTo('container_events').execute())

const RESTART = 'event container_restart restarted by user'
const READY = 'event container_ready The workspace was restarted'

test('a restart replaces the container, and everybody in it is told its begin and its end', async () => {
  const { id, owner, other } = await opened()
  const before = containerOf(id)
  owner.send({ cmd: 'restart_container', req: 'r' })
  expect(await owner.next('ack')).toEqual({ type: 'ack', req: 'r', cmd: 'restart_container' })
  await expect.poll(() => events(other)).toEqual([RESTART, READY])
  expect(events(owner)).toEqual([RESTART, READY])
  expect(containerOf(id)).not.toBe(before)
  const found = server.app.attachments.in(id).map((attachment) => attachment.requireRunning().containerId)
  expect(found).toEqual([containerOf(id), containerOf(id)])
  expect(await trail(id)).toEqual(['start ws_connect', 'stop restart', 'start restart'])
})

test('a workspace that was stopped is started by it', async () => {
  const { id, owner, other } = await opened()
  await succeed(ann.post(`/workspaces/${id}/stop`))
  owner.send({ cmd: 'restart_container' })
  await expect.poll(() => events(other)).toEqual(['event container_stopped shut down by user', RESTART, READY])
  expect(server.app.lifecycle.status({ id }).running).toBe(true)
})

test('two who want it at once get one restart', async () => {
  const { id, owner } = await opened()
  const second = await server.socket(ann.token, { caps: ['req'] })
  await connect(second, id)
  for (const socket of [owner, second]) socket.send({ cmd: 'restart_container', req: 'r' })
  await Promise.all([owner.next('ack'), second.next('ack')])
  expect(await trail(id)).toEqual(['start ws_connect', 'stop restart', 'start restart'])
  expect(events(owner)).toEqual([RESTART, READY])
})

test('without restart-workspace it is refused as out of reach, and nobody hears of it', async () => {
  const { id, owner, other } = await opened()
  const before = containerOf(id)
  other.send({ cmd: 'restart_container' })
  expect(await other.next('error')).toEqual({
    type: 'error',
    code: 'forbidden',
    message: 'Permission denied',
    cmd: 'restart_container',
  })
  await owner.roundTrip()
  expect([containerOf(id), events(owner), server.app.attachments.in(id).length]).toEqual([before, [], 2])
})

test('without a workspace that is open there is nothing to restart', async () => {
  const socket = await server.socket(ann.token)
  socket.send({ cmd: 'restart_container' })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected' })
})

test('one that cannot be started again leaves everybody in it, with the truth', async () => {
  const { id, owner, other } = await opened()
  await server.reconfigure({ SVCD_FIPS_MODE: 'true' })
  owner.send({ cmd: 'restart_container' })
  expect(await owner.next('error')).toMatchObject({ code: 'start_failed', cmd: 'restart_container' })
  await server.reconfigure({})
  const STOPPED = 'event container_stopped restarted by user'
  await expect.poll(() => events(other)).toEqual([RESTART, STOPPED])
  owner.send({ cmd: 'restart_container' })
  await expect.poll(() => events(other)).toEqual([RESTART, STOPPED, RESTART, READY])
  expect(server.app.attachments.in(id)).toHaveLength(2)
})

test('one that may not be stopped runs on, and everybody is told so', async () => {
  const { id, owner, other } = await opened()
  const before = containerOf(id)
  await breakTrail()
  owner.send({ cmd: 'restart_container' })
  expect(await owner.next('error')).toMatchObject({ code: 'audit', cmd: 'restart_container' })
  await mendTrail()
  await expect.poll(() => events(other)).toEqual([RESTART, 'event container_ready The workspace was not restarted'])
  expect(containerOf(id)).toBe(before)
})

test('while the server drains nothing is restarted, and what runs is not stopped for it', async () => {
  const { id, owner } = await opened()
  server.app.lifecycle.refuseStarts()
  owner.send({ cmd: 'restart_container' })
  expect(await owner.next('error')).toMatchObject({ code: 'draining' })
  server.app.lifecycle.resume()
  expect(server.app.lifecycle.status({ id }).running).toBe(true)
})
