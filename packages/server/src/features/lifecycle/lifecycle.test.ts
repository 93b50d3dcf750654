import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { EngineError } from '../../engine/container-engine.ts'
import { Announcer } from '../../kernel/announcer.ts'
import { engineWith, openMachine, run } from '../../testing/open-machine.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const
const STOP = { cause: 'stop', actor: SYSTEM } as const

test('a workspace is started, is found, and is stopped', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot()
  expect(lifecycle.status({ id })).toMatchObject({ running: false, containerId: null, ports: [], network: null })

  expect(await lifecycle.start(id, API)).toBe('started')
  const running = lifecycle.requireRunning(id)
  await running.agent.ping()
  expect((await machine.row(id)).containerId).toBe(running.containerId)
  expect(lifecycle.status({ id })).toMatchObject({
    running: true,
    containerId: running.containerId,
    idleTimeoutSeconds: 3600,
    restart: undefined,
  })
  expect(await lifecycle.start(id, API)).toBe('already_running')

  await lifecycle.stop(id, STOP)
  expect(lifecycle.find(id)).toBeUndefined()
  expect(() => lifecycle.requireRunning(id)).toThrow('Container not running')
  expect((await machine.row(id)).containerId).toBeNull()
  expect(await machine.engine.list()).toEqual([])
  await lifecycle.stop(id, STOP)
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop'])
  expect(news.map(({ kind }) => kind)).toEqual(['started', 'stopping', 'stopped'])
})

test('each start is one record in the log, with the time of every phase', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ env: { PASSWORD: 'swordfish' } })
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  const ms = { prepare: 0, run: 0, connect: 0, setup: 0, total: 0 }
  const lines = machine.log.records.filter(({ fields }) => fields.workspace === id)
  expect(lines).toMatchObject([{ message: 'a workspace was started', fields: { cause: 'api', ms } }])
  expect(JSON.stringify(machine.log.records)).not.toContain('swordfish')
})

test('programs in a workspace see its variables; the container itself does not', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({
    env: { GREETING: 'hello', USER: 'somebody', NODE_OPTIONS: '--no-warnings' },
  })
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, { ...API, externalUrl: 'https://svc.example.com/base' })
  const running = lifecycle.requireRunning(id)
  expect(await run(running, 'echo $GREETING $USER $SVCWS_WORKSPACE_ID $SVCWS_HOSTING_HOSTNAME')).toBe(
    `hello somebody ${id} svc.example.com`,
  )
  const ofAgent = await run(running, 'tr "\\0" "\\n" < /proc/$PPID/environ')
  expect(ofAgent).toContain(`SVCWS_WORKSPACE_ID=${id}`)
  expect(ofAgent).not.toMatch(/GREETING|NODE_OPTIONS/)
})

test('ports are given to a workspace with a network, and one that wants a filter has neither', async () => {
  const machine = await openMachine({ SVCD_PORT_RANGE_START: '23400' })
  const open = await machine.workspace({ egressMode: 'allow' })
  const filtered = await machine.workspace({ egressMode: 'interactive' })
  const { lifecycle } = await machine.boot()
  await lifecycle.start(open.id, API)
  await lifecycle.start(filtered.id, API)
  expect(lifecycle.status(open)).toMatchObject({ ports: [expect.any(Number), expect.any(Number)] })
  expect(lifecycle.status(filtered)).toMatchObject({
    ports: [],
    network: { mode: 'none', note: expect.stringContaining('Outgoing connections are off') },
  })
  expect(await run(lifecycle.requireRunning(filtered.id), 'echo ports=$SVCWS_PORT_MAPPINGS')).toBe('ports=')
})

test('many starts of one workspace are one start', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  const results = await Promise.all(Array.from({ length: 20 }, () => lifecycle.start(id, API)))
  expect(results.filter((result) => result === 'started')).toHaveLength(1)
  expect(await machine.engine.list()).toHaveLength(1)
  expect(await machine.recorded(id)).toEqual(['start api'])
})

test('twenty workspaces start at once', async () => {
  const machine = await openMachine()
  const { lifecycle } = await machine.boot()
  const made = await Promise.all(Array.from({ length: 20 }, () => machine.workspace()))
  await Promise.all(made.map(({ id }) => lifecycle.start(id, API)))
  await Promise.all(made.map(({ id }) => lifecycle.requireRunning(id).agent.ping()))
  const ports = made.flatMap(({ id }) => lifecycle.status({ id }).ports)
  expect(new Set(ports).size).toBe(40)
})

test('a stop ends a start that is under way, and a start after it begins anew', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  const first = lifecycle.start(id, API)
  const stopped = lifecycle.stop(id, STOP)
  const second = lifecycle.start(id, API)
  await expect(first).rejects.toMatchObject({ code: 'conflict' })
  await stopped
  expect(await second).toBe('started')
  expect(await machine.engine.list()).toHaveLength(1)
})

test('a stop also ends a start whose container runs already', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const connecting = Promise.withResolvers<void>()
  const engine = engineWith(machine.engine, {
    async connect(container, signal) {
      connecting.resolve()
      await once(signal, 'abort')
      return machine.engine.connect(container, signal)
    },
  })
  const { lifecycle } = await machine.boot({ engine })
  const start = lifecycle.start(id, API)
  await connecting.promise
  expect(await machine.engine.list()).toMatchObject([{ running: true }])
  await Promise.all([expect(start).rejects.toMatchObject({ code: 'conflict' }), lifecycle.stop(id, STOP)])
  expect([await machine.engine.list(), (await machine.row(id)).containerId]).toEqual([[], null])
  expect(await machine.recorded(id)).toEqual(['start api', 'stop start_failed'])
})

test('an agent that is not ready within a minute fails the start', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const connecting = Promise.withResolvers<void>()
  const engine = engineWith(machine.engine, {
    async connect(_, signal) {
      connecting.resolve()
      await once(signal, 'abort')
      throw signal.reason
    },
  })
  const { lifecycle } = await machine.boot({ engine })
  const start = lifecycle.start(id, API)
  await connecting.promise
  machine.clock.advance(60_000)
  await expect(start).rejects.toMatchObject({
    code: 'start_failed',
    message: 'The container could not be started: getting the agent ready took longer than 60 s',
  })
  expect(await machine.engine.list()).toEqual([])
})

test('a port that somebody else took meanwhile is replaced, and the start goes on', async () => {
  const machine = await openMachine({ SVCD_PORT_RANGE_START: '23500' })
  const { id } = await machine.workspace({ numPorts: 1 })
  const wanted: number[] = []
  let taken: Server | undefined
  const engine = engineWith(machine.engine, {
    async run(spec, options) {
      const port = spec.ports[0]?.host ?? 0
      wanted.push(port)
      if (taken) return machine.engine.run(spec, options)
      taken = createServer().listen(port, '127.0.0.1')
      await once(taken, 'listening')
      throw new EngineError('port_in_use', 'the port is taken')
    },
  })
  onTestFinished(() => void taken?.close())
  const { lifecycle } = await machine.boot({ engine })
  expect(await lifecycle.start(id, API)).toBe('started')
  expect(wanted).toHaveLength(2)
  expect(wanted[1]).not.toBe(wanted[0])
  expect(lifecycle.status({ id }).ports).toEqual([wanted[1]])
})

test('a start that is asked for during a stop waits for it', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  const before = lifecycle.requireRunning(id).containerId
  const stopping = lifecycle.stop(id, STOP)
  expect(await lifecycle.start(id, API)).toBe('started')
  await stopping
  expect(lifecycle.requireRunning(id).containerId).not.toBe(before)
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop', 'start api'])
})

test('while one is being deleted nobody can start it, and afterwards it is unknown', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  const deleted = lifecycle.stopForGood(id, { cause: 'delete', actor: SYSTEM }, async () => {
    expect(await machine.engine.list()).toEqual([])
    await machine.storage.db.deleteFrom('workspaces').where('id', '=', id).execute()
    return 'done'
  })
  const late = lifecycle.start(id, API)
  expect(await deleted).toBe('done')
  await expect(late).rejects.toMatchObject({ code: 'workspace_not_found' })
})

test('a restart leaves it stopped, unless it is one that always runs', async () => {
  const machine = await openMachine({ SVCD_ALLOW_AUTOSTART: 'true' })
  const usual = await machine.workspace()
  const { lifecycle } = await machine.boot()
  const always = await machine.workspace({ autoStart: true })
  for (const { id } of [usual, always]) {
    await lifecycle.start(id, API)
    await lifecycle.restart(id, { actor: SYSTEM })
  }
  expect(lifecycle.status(usual).running).toBe(false)
  expect(lifecycle.status(always).running).toBe(true)
  expect(await machine.recorded(always.id)).toEqual(['start api', 'stop restart', 'start restart'])
})

test('a start that fails leaves nothing, and says what the engine said', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot({
    images: {
      nameFor: () => 'gone',
      requireAllowed: () => undefined,
      progress: new Announcer(),
      ensurePresent: async () => undefined,
    },
    volumes: {
      ensureFor: async () => {
        throw new EngineError('failed', 'the disk is full')
      },
    },
  })
  await machine.change(id, { mounts: ['cache:/cache'] })
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({
    code: 'start_failed',
    message: 'The container could not be started: the disk is full',
  })
  expect([await machine.recorded(id), (await machine.row(id)).containerId]).toEqual([[], null])
})

test('a mount that is no longer allowed refuses the start with its own sentence', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ mounts: ['/etc:/host-etc'] })
  const { lifecycle } = await machine.boot()
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining("Invalid mount '/etc:/host-etc'"),
  })
})

test('a mount cannot be led elsewhere by a link that the user laid in the home', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  await run(lifecycle.requireRunning(id), 'ln -s /opt/svc ~/x; mkdir ~/plain')
  await lifecycle.stop(id, STOP)
  for (const target of ['/home/svc/x', '/home/svc/x/bin']) {
    await machine.change(id, { mounts: [`cache:${target}`] })
    await expect(lifecycle.start(id, API)).rejects.toThrow(`Nothing can be mounted at ${target}: x in`)
  }
  await machine.engine.volumes.create('cache', id)
  await machine.change(id, { mounts: ['cache:/home/svc/plain'] })
  expect(await lifecycle.start(id, API)).toBe('started')
})

test('an owner has no more running than allowed, those that are starting included', async () => {
  const machine = await openMachine({ SVCD_MAX_RUNNING_WORKSPACES_PER_USER: '2' })
  const { lifecycle } = await machine.boot()
  const mine = await Promise.all(Array.from({ length: 5 }, () => machine.workspace()))
  const results = await Promise.allSettled(mine.map(({ id }) => lifecycle.start(id, API)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  const other = await machine.workspace({ ownerId: await machine.owner() })
  expect(await lifecycle.start(other.id, API)).toBe('started')
  const refused = results.find((result) => result.status === 'rejected')
  expect(refused).toMatchObject({ reason: { code: 'running_limit_reached' } })
})

test('a workspace that was given away counts for its new owner', async () => {
  const machine = await openMachine({ SVCD_MAX_RUNNING_WORKSPACES_PER_USER: '1' })
  const { lifecycle } = await machine.boot()
  const [given, own] = [await machine.workspace(), await machine.workspace()]
  const bob = await machine.owner('bob')
  await lifecycle.start(given.id, API)
  await machine.change(given.id, { ownerId: bob })
  expect(await lifecycle.start(own.id, API)).toBe('started')
  const his = await machine.workspace({ ownerId: bob })
  await expect(lifecycle.start(his.id, API)).rejects.toMatchObject({ code: 'running_limit_reached' })
})

test('memory that is promised to a start is not given to another', async () => {
  const machine = await openMachine({ SVCD_ADMISSION_MEMORY_ENABLED: 'true' })
  const { lifecycle } = await machine.boot({ measureMemory: async () => ({ bytes: 5 * 1024 ** 3, fraction: 0.5 }) })
  const settings = { memory_limit: '3g' }
  const [one, two] = [await machine.workspace({ settings }), await machine.workspace({ settings })]
  const results = await Promise.allSettled([lifecycle.start(one.id, API), lifecycle.start(two.id, API)])
  expect(results).toMatchObject([{ value: 'started' }, { reason: { code: 'capacity_reached' } }])
  expect(await lifecycle.start(two.id, API)).toBe('started')
})
