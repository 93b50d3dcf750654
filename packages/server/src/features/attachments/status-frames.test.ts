import { rolePermissions } from '@svc/protocol/roles'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allowOnly, connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import { run } from '../../testing/open-machine.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
/** The owner of all workspaces. */
let ann: Person
/** May monitor what she is allowed to, and nothing else. */
let mona: Person
let spectator: Person
/** May do nothing in any of them. */
let eve: Person

beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  mona = await server.person('mona')
  spectator = await server.person('spectator')
  eve = await server.person('eve')
})
afterAll(() => server[Symbol.asyncDispose]())

/** With a check that is well while there is a file `well` in the home. */
const CHECKED = { setup_state: 'complete', health_check: { command: 'test -e /home/svc/well', interval: 5, grace: 0 } }

/** A workspace that all but eve may monitor, and that the spectator may join as well. */
async function workspace(more: object = {}): Promise<string> {
  const id = await makeWorkspace(ann, more)
  await allowOnly(ann, id, [
    [mona, ['monitor-workspace']],
    [spectator, rolePermissions.spectators],
  ])
  return id
}

/** Moves the clock a little each time until the last that was told is this. */
const untilTold = (socket: SocketClient, last: string, stepMs = 100) =>
  expect
    .poll(
      () => {
        const told = story(socket).at(-1)
        if (told !== last) server.clock.advance(stepMs)
        return told
      },
      { timeout: 10_000 },
    )
    .toBe(last)

const wait = (socket: SocketClient, what: string) => expect.poll(() => story(socket)).toContain(what)
/** All that was to be told before has been told. */
const settle = (sockets: SocketClient[]) => Promise.all(sockets.map((socket) => socket.roundTrip()))
const told = (socket: SocketClient, from: number) => story(socket, from).filter((what) => !what.startsWith('error'))

const sockets = async (people: Person[], options = {}): Promise<SocketClient[]> => {
  const all = await Promise.all(people.map(({ token }) => server.socket(token, options)))
  await Promise.all(all.map((socket) => socket.next('server_schedule')))
  return all
}

async function three(): Promise<[SocketClient, SocketClient, SocketClient]> {
  const [a, b, c] = await sockets([ann, mona, spectator])
  if (!a || !b || !c) throw new Error('a socket is missing')
  return [a, b, c]
}

test('a start and a stop are told to those who may monitor the workspace, and to nobody else', async () => {
  const id = await workspace()
  const [owner, monitor, watcher] = await three()
  const stranger = await server.socket(eve.token)
  await succeed(ann.post(`/workspaces/${id}/start`))
  expect(await monitor.next('container_status')).toEqual({
    type: 'container_status',
    workspace_id: id,
    running: true,
    service_started_at: server.clock.nowMs() / 1000,
  })
  await succeed(ann.post(`/workspaces/${id}/stop`))
  for (const socket of [owner, monitor, watcher]) await wait(socket, 'container_status false')
  await settle([owner, monitor, watcher, stranger])
  const all = ['server_schedule', 'container_status true', 'container_status false']
  expect([owner, monitor, watcher].map((socket) => told(socket, 0))).toEqual([all, all, all])
  expect(told(stranger, 0)).toEqual(['server_schedule'])
})

test('a right that was taken away counts from the next frame on, and one that was given as well', async () => {
  const id = await workspace()
  const [owner, monitor] = await three()
  const stranger = await server.socket(eve.token)
  await succeed(ann.post(`/workspaces/${id}/start`))
  await monitor.next('container_status')
  await allowOnly(ann, id, [[eve, ['monitor-workspace']]])
  await succeed(ann.post(`/workspaces/${id}/stop`))
  await stranger.next('container_status')
  await owner.next('container_status', ({ running }) => !running)
  await settle([monitor])
  expect(told(monitor, 0).filter((what) => what.startsWith('container_status'))).toEqual(['container_status true'])
  expect(story(stranger)).toContain('container_status false')
})

test('on a stop the status comes first, then the health, then the event for those who are in it', async () => {
  const id = await workspace(CHECKED)
  const [owner, monitor, watcher] = await three()
  await connect(owner, id)
  await connect(watcher, id)
  await untilTold(monitor, 'service_health false running true')
  for (const socket of [owner, watcher]) await socket.next('service_health')
  const from = [owner, monitor, watcher].map(({ frames }) => frames.length)
  await succeed(ann.post(`/workspaces/${id}/stop`))
  await wait(owner, 'event container_stopped shut down by user')
  await wait(watcher, 'event container_stopped shut down by user')
  await settle([owner, monitor, watcher])
  const seen = ['container_status false', 'service_health false running false']
  const inside = [...seen, 'event container_stopped shut down by user']
  expect([owner, monitor, watcher].map((socket, index) => told(socket, from[index] ?? 0))).toEqual([
    inside,
    seen,
    inside,
  ])
})

test('health is told when it turns, with numbers that rise by one', async () => {
  const id = await workspace(CHECKED)
  const [owner, monitor] = await three()
  const stranger = await server.socket(eve.token)
  await connect(owner, id)
  await untilTold(monitor, 'service_health false running true')
  await run(server.app.lifecycle.requireRunning(id), 'touch /home/svc/well')
  await untilTold(monitor, 'service_health true running true', 1_000)
  server.clock.advance(5_000)
  server.clock.advance(5_000)
  await succeed(ann.post(`/workspaces/${id}/stop`))
  await wait(monitor, 'service_health false running false')
  const health = monitor.frames.filter((frame) => frame.type === 'service_health')
  expect(health.map(({ seq, healthy, running }) => [seq, healthy, running])).toEqual([
    [1, false, true],
    [2, true, true],
    [3, false, false],
  ])
  expect(health[0]).toMatchObject({ workspace_id: id, health_message: 'exited 1' })
  expect(health[1]).toMatchObject({ health_message: null, health_checked_at: expect.stringMatching(/^2026.*\+00:00$/) })
  await settle([stranger])
  expect(told(stranger, 0)).toEqual(['server_schedule'])
})

test('a crash is told with its cause to those who monitor, and as a death to those who are in it', async () => {
  const id = await workspace(CHECKED)
  const [owner, monitor] = await three()
  await connect(owner, id)
  await untilTold(monitor, 'service_health false running true')
  await owner.next('service_health')
  const from = [owner, monitor].map(({ frames }) => frames.length)
  void run(server.app.lifecycle.requireRunning(id), 'kill -9 $PPID').catch(() => undefined)
  await untilTold(owner, 'event container_died')
  const seen = ['container_status false', 'service_health false running false']
  expect(story(owner, from[0])).toEqual([...seen, 'event container_died'])
  await settle([monitor])
  expect(told(monitor, from[1] ?? 0)).toEqual(seen)
  const message = 'The container ended with exit code 137 (SIGKILL)'
  expect(owner.frames.findLast(({ type }) => type === 'service_health')).toMatchObject({ health_message: message })
  expect(owner.frames.at(-1)).toEqual({
    type: 'event',
    event: {
      type: 'CUSTOM',
      name: 'container_died',
      value: { cause: 'exited', message, restart_attempts: 0, restart_scheduled: false, gave_up: false },
    },
  })
})

test('a workspace that is started again after a crash is ready for those who stayed in it', async () => {
  await server.reconfigure({ SVCD_CONTAINER_RESTART_ENABLED: 'true' })
  const id = await workspace()
  const [owner] = await three()
  await connect(owner, id)
  await owner.next('container_status')
  const from = owner.frames.length
  void run(server.app.lifecycle.requireRunning(id), 'kill -9 $PPID').catch(() => undefined)
  await untilTold(owner, 'event container_ready The workspace was started again after a crash')
  await server.reconfigure({})
  expect(story(owner, from)).toEqual([
    'container_status false',
    'event container_died',
    'container_status true',
    'event container_ready The workspace was started again after a crash',
  ])
  expect(owner.frames.find((frame) => frame.type === 'event' && frame.event.name === 'container_died')).toMatchObject({
    event: { value: { restart_scheduled: true, restart_in_seconds: expect.any(Number) } },
  })
  expect(server.app.attachments.in(id)[0]?.requireRunning().containerId).toBe(
    server.app.lifecycle.requireRunning(id).containerId,
  )
})

test('when a workspace stops because nobody uses it, those who are in it hear first', async () => {
  const id = await workspace({ settings: { idle_timeout: 60 } })
  const [owner, monitor] = await three()
  await connect(owner, id)
  for (const socket of [owner, monitor]) await socket.next('container_status')
  const from = [owner, monitor].map(({ frames }) => frames.length)
  await untilTold(owner, 'container_status false', 5_000)
  await expect.poll(() => server.engine.list()).not.toContainEqual(expect.objectContaining({ workspaceId: id }))
  await settle([owner, monitor])
  expect(told(owner, from[0] ?? 0)).toEqual(['event container_stopped idle timeout', 'container_status false'])
  expect(told(monitor, from[1] ?? 0)).toEqual(['container_status false'])
})

test('an eviction is announced, then the stop; a workspace that somebody has open is spared', async () => {
  const [open, lonely] = [await workspace(CHECKED), await workspace(CHECKED)]
  const [owner, monitor] = await three()
  await connect(owner, open)
  await succeed(ann.post(`/workspaces/${lonely}/start`))
  await untilTold(monitor, 'service_health false running true')
  const of = (id: string) => monitor.frames.filter((frame) => 'workspace_id' in frame && frame.workspace_id === id)
  await expect.poll(() => of(lonely).some(({ type }) => type === 'service_health')).toBe(true)
  const from = of(lonely).length
  await server.reconfigure({
    SVCD_MEMORY_EVICTION_THRESHOLD_PERCENT: '100',
    SVCD_MEMORY_EVICTION_RECOVERY_PERCENT: '100',
    SVCD_MEMORY_EVICTION_SUSTAIN_POLLS: '1',
  })
  await expect
    .poll(
      () => {
        server.clock.advance(1_000)
        return server.app.lifecycle.status({ id: lonely }).running
      },
      { timeout: 10_000 },
    )
    .toBe(false)
  await server.reconfigure({})
  await expect.poll(() => of(lonely).length - from).toBeGreaterThanOrEqual(3)
  expect(of(lonely).slice(from)).toMatchObject([
    { type: 'workspace_evicted', workspace_id: lonely, reason: 'host memory pressure' },
    { type: 'container_status', running: false },
    { type: 'service_health', running: false },
  ])
  expect(server.app.lifecycle.status({ id: open }).running).toBe(true)
})

test('changes to workspaces are hinted at to those whose lists are out of date', async () => {
  const [owner, other, stranger] = await sockets([ann, mona, eve])
  const id = await makeWorkspace(ann)
  expect(await owner?.next('workspaces-changed')).toEqual({ type: 'workspaces-changed' })
  await succeed(ann.post(`/workspaces/${id}/members`, { email: mona.email }))
  await owner?.next('workspaces-changed')
  await other?.next('workspaces-changed')
  if (!stranger) throw new Error('a socket is missing')
  await settle([stranger])
  expect(told(stranger, 0)).toEqual(['server_schedule'])
})

test('those who are in a workspace are told when somebody else starts it again', async () => {
  const id = await workspace()
  const [owner, , watcher] = await three()
  await connect(watcher, id)
  await succeed(ann.post(`/workspaces/${id}/stop`))
  await wait(watcher, 'event container_stopped shut down by user')
  await connect(owner, id)
  await wait(watcher, 'event container_ready The workspace was started')
  await settle([owner])
  expect(story(owner)).not.toContain('event container_ready The workspace was started')
})

test('who asks for it hears once in each interval that health checks are made', async () => {
  const [owner, monitor] = await three()
  owner.send({ cmd: 'subscribe_health_heartbeat' })
  monitor.send({ cmd: 'subscribe_health_heartbeat', enabled: false })
  await settle([owner, monitor])
  const beats = () => owner.frames.filter(({ type }) => type === 'service_health_heartbeat').length
  await expect
    .poll(() => {
      if (beats() < 2) server.clock.advance(5_000)
      return beats()
    })
    .toBe(2)
  await settle([monitor])
  expect(story(monitor)).not.toContain('service_health_heartbeat')
})
