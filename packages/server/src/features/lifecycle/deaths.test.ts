import { expect, test } from 'vitest'
import { agentWith, type Machine, openMachine, run } from '../../testing/open-machine.ts'
import { type LifecycleNews, SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const
const STOP = { cause: 'stop', actor: SYSTEM } as const
type Booted = Awaited<ReturnType<Machine['boot']>>

const RESTARTS = { SVCD_CONTAINER_RESTART_ENABLED: 'true', SVCD_CONTAINER_RESTART_MAX_RETRIES: '2' }

/** Moves the clock a little until the end of a container was told. */
const died = (machine: Machine, news: readonly LifecycleNews[]) =>
  expect.poll(() => {
    const last = news.at(-1)
    if (last?.kind !== 'died') machine.clock.advance(100)
    return last
  })

const kinds = (news: readonly LifecycleNews[]) => news.map(({ kind }) => kind)

test('the death of the agent is told within a moment, with its signal, and the container is cleared away', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  void run(lifecycle.requireRunning(id), 'kill -9 $PPID').catch(() => undefined)
  await died(machine, news).toMatchObject({
    kind: 'died',
    cause: 'exited',
    message: 'The container ended with exit code 137 (SIGKILL)',
    restart: { attempts: 0, inSeconds: null, gaveUp: false },
  })
  expect(kinds(news)).toEqual(['started', 'stopping', 'died'])
  expect(lifecycle.status({ id })).toMatchObject({ running: false, restart: { state: 'dead', lastCause: 'exited' } })
  expect((await machine.row(id)).containerId).toBeNull()
  expect(await machine.engine.list()).toEqual([])
  expect(await machine.recorded(id)).toEqual(['start api', 'stop crash_teardown'])
})

test('a program that exits tells its code', async () => {
  const agentDir = await agentWith(`process.on('SIGUSR2', () => process.exit(3))`)
  const machine = await openMachine({}, { agentDir })
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  void run(lifecycle.requireRunning(id), 'kill -USR2 $PPID').catch(() => undefined)
  await expect.poll(() => news.at(-1)).toMatchObject({ kind: 'died', message: 'The container ended with exit code 3' })
})

test('an agent that ends before it is ready fails the start with the end of the container', async () => {
  const agentDir = await agentWith('process.exit(3)')
  const machine = await openMachine({}, { agentDir })
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({ code: 'start_failed' })
  expect([await machine.engine.list(), (await machine.row(id)).containerId, kinds(news)]).toEqual([[], null, []])
  expect(await machine.recorded(id)).toEqual(['start api', 'stop start_failed'])
})

test('a container that somebody else removes is told as removed', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  await machine.engine.remove(lifecycle.requireRunning(id).containerId, { graceSeconds: 0 })
  await died(machine, news).toMatchObject({
    kind: 'died',
    cause: 'removed',
    message: 'The container was removed by somebody else',
  })
})

test('a stop is never taken for a death', async () => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  await lifecycle.stop(id, STOP)
  machine.clock.advance(120_000)
  await lifecycle.end()
  expect(kinds(news)).toEqual(['started', 'stopping', 'stopped'])
  expect(lifecycle.status({ id }).restart).toBeUndefined()
})

test('a lost connection is made again, and terminals are as they were', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  const before = lifecycle.requireRunning(id).agent
  await before.terminals.open({ id: 'mine', cols: 80, rows: 24, env: {}, cwd: '/home/svc', label: '' })
  before.close()
  await expect.poll(() => kinds(news)).toEqual(['started', 'reconnected'])
  const after = lifecycle.requireRunning(id).agent
  expect(after).not.toBe(before)
  expect(after.bootId).toBe(before.bootId)
  expect(await after.terminals.list()).toMatchObject({ terminals: [{ id: 'mine' }] })
})

test('an agent that does not come back is a workspace that ended', async () => {
  const agentDir = await agentWith(`
    const files = process.getBuiltinModule('node:fs')
    process.on('SIGUSR2', () => files.rmSync('/run/svc/agent.sock'))`)
  const machine = await openMachine({}, { agentDir })
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  const running = lifecycle.requireRunning(id)
  await run(running, 'kill -USR2 $PPID; while test -e /run/svc/agent.sock; do sleep 0.05; done')
  running.agent.close()
  await expect
    .poll(() => {
      machine.clock.advance(1_000)
      return news.at(-1)
    })
    .toMatchObject({ kind: 'died', cause: 'exited', message: 'The agent in the container was lost' })
  expect(await machine.engine.list()).toEqual([])
})

test('an agent that comes back and goes again, time after time, is given up', async () => {
  const agentDir = await agentWith(`
    const { Server } = process.getBuiltinModule('node:net')
    const { emit } = Server.prototype
    let count = 0
    Server.prototype.emit = function (event, socket, ...rest) {
      if (event === 'connection' && ++count > 1) setTimeout(() => socket.destroy(), 20)
      return emit.call(this, event, socket, ...rest)
    }`)
  const machine = await openMachine({}, { agentDir })
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  lifecycle.requireRunning(id).agent.close()
  // The clock stands still: nothing but the number of losses can end it.
  await expect.poll(() => news.at(-1)).toMatchObject({ kind: 'died', message: 'The agent in the container was lost' })
  expect(await machine.engine.list()).toEqual([])
})

/** Ends the container, and waits until everybody knows. */
async function crash(machine: Machine, { lifecycle, news }: Booted, id: string): Promise<void> {
  await run(lifecycle.requireRunning(id), 'kill -9 $PPID').catch(() => undefined)
  await died(machine, news).toMatchObject({ kind: 'died' })
}

test('a workspace that keeps crashing is started again, ever later, until the server gives up', async () => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  const server = await machine.boot()
  const { lifecycle, news } = server
  const restart = () => lifecycle.status({ id }).restart
  await lifecycle.start(id, API)

  await crash(machine, server, id)
  await expect.poll(restart).toMatchObject({ state: 'backing-off', attempts: 0 })
  expect(news.at(-1)).toMatchObject({ kind: 'died', restart: { inSeconds: 5 } })
  machine.clock.advance(5_000)
  await expect.poll(restart).toMatchObject({ state: 'recovering', attempts: 1 })

  await crash(machine, server, id)
  await expect.poll(restart).toMatchObject({ state: 'backing-off', attempts: 1 })
  machine.clock.advance(9_999)
  expect(restart()).toMatchObject({ state: 'backing-off' })
  machine.clock.advance(1)
  await expect.poll(restart).toMatchObject({ state: 'recovering', attempts: 2 })

  await crash(machine, server, id)
  await expect.poll(restart).toMatchObject({ state: 'crash-loop', attempts: 2 })
  await expect.poll(() => news.at(-1)).toMatchObject({ kind: 'died', restart: { inSeconds: null, gaveUp: true } })
  expect(await machine.recorded(id)).toEqual([
    'start api',
    'stop crash_teardown',
    'start crash_restart',
    'stop crash_teardown',
    'start crash_restart',
    'stop crash_teardown',
  ])
  expect(await lifecycle.start(id, API)).toBe('started')
  expect(restart()).toBeUndefined()
})

test('ten minutes without trouble are forgiven', async () => {
  const machine = await openMachine({ ...RESTARTS, SVCD_IDLE_TIMEOUT_SECONDS: '0' })
  const { id } = await machine.workspace()
  const server = await machine.boot()
  const { lifecycle } = server
  const restart = () => lifecycle.status({ id }).restart
  await lifecycle.start(id, API)
  await crash(machine, server, id)
  await expect.poll(restart).toMatchObject({ state: 'backing-off' })
  machine.clock.advance(5_000)
  await expect.poll(restart).toMatchObject({ state: 'recovering' })
  machine.clock.advance(599_000)
  expect(restart()).toMatchObject({ state: 'recovering' })
  machine.clock.advance(1_000)
  expect(restart()).toBeUndefined()
})

test.each<[string, (machine: Machine, server: Booted, id: string) => Promise<void>, object | undefined]>([
  ['somebody stops it', (_, { lifecycle }, id) => lifecycle.stop(id, STOP), undefined],
  [
    'restarts are turned off',
    (machine) => machine.reconfigure({ SVCD_CONTAINER_RESTART_ENABLED: 'false' }),
    { state: 'dead', attempts: 0, lastCause: 'exited' },
  ],
])('a restart that is waiting is dropped when %s', async (_, happens, record) => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  const server = await machine.boot()
  const { lifecycle } = server
  const restart = () => lifecycle.status({ id }).restart
  await lifecycle.start(id, API)
  await crash(machine, server, id)
  await expect.poll(restart).toMatchObject({ state: 'backing-off' })
  await happens(machine, server, id)
  machine.clock.advance(60_000)
  expect(restart()).toEqual(record)
  await lifecycle.end()
  expect(await machine.engine.list()).toEqual([])
})
