import { expect, test } from 'vitest'
import { AgentClient } from '../../agent/agent-client.ts'
import { EngineError } from '../../engine/container-engine.ts'
import { engineWith, openMachine, run } from '../../testing/open-machine.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const

test('a server that comes after a crash takes up what runs, and terminals are as they were', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ settings: { idle_timeout: 77 } })
  const first = await machine.boot()
  await first.lifecycle.start(id, API)
  const before = first.lifecycle.requireRunning(id)
  await before.agent.terminals.open({ id: 'mine', cols: 80, rows: 24, env: {}, cwd: '/home/svc', label: 'of ada' })
  const [mine] = (await before.agent.terminals.list()).terminals
  const status = first.lifecycle.status({ id })
  // As after a `kill -9`: nothing is stopped, only the connections end.
  await first.lifecycle.end()
  expect(first.lifecycle.find(id)).toBeUndefined()

  const second = await machine.boot()
  const after = second.lifecycle.requireRunning(id)
  expect([after.containerId, after.agent.bootId]).toEqual([before.containerId, before.agent.bootId])
  // How much it has written by now is the shell's matter.
  const terminals = [{ ...mine, offset: expect.any(Number) }]
  expect(await after.agent.terminals.list()).toEqual({ terminals, opened: 1 })
  expect(second.lifecycle.status({ id })).toMatchObject({ running: true, ports: status.ports, idleTimeoutSeconds: 77 })
  expect(await second.lifecycle.start(id, API)).toBe('already_running')
  expect(await machine.recorded(id)).toEqual(['start api'])
})

test('what is taken up is described as it was started, and the next start has what was edited since', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ settings: { idle_timeout: 77, memory_limit: '1g' } })
  const first = await machine.boot()
  await first.lifecycle.start(id, API)
  const { idleTimeoutSeconds, ports, network } = first.lifecycle.status({ id })
  expect([idleTimeoutSeconds, ports.length]).toEqual([77, 2])
  await machine.change(id, { egressMode: 'interactive', numPorts: 1, settings: { idle_timeout: 5 } })
  await first.lifecycle.end()
  const second = await machine.boot()
  expect(second.lifecycle.status({ id })).toMatchObject({ running: true, idleTimeoutSeconds, ports, network })
  await second.lifecycle.stop(id, { cause: 'stop', actor: SYSTEM })
  await second.lifecycle.start(id, API)
  expect(second.lifecycle.status({ id })).toMatchObject({
    idleTimeoutSeconds: 5,
    ports: [],
    network: { mode: 'none' },
  })
})

test('a server that takes a workspace up gives it a new token', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const first = await machine.boot()
  await first.lifecycle.start(id, API)
  const read = () => run(first.lifecycle.requireRunning(id), 'cat /tmp/svc/workspace-token')
  const before = await read()
  await first.lifecycle.end()
  machine.clock.advance(3_600_000)
  const second = await machine.boot()
  const after = await run(second.lifecycle.requireRunning(id), 'cat /tmp/svc/workspace-token')
  expect(after).not.toBe(before)
  expect(await second.tokens.check(after)).toEqual({ workspaceId: id })
})

test('what ended while no server ran is noted', async () => {
  const machine = await openMachine()
  const [ended, removed] = [await machine.workspace(), await machine.workspace()]
  const first = await machine.boot()
  for (const { id } of [ended, removed]) await first.lifecycle.start(id, API)
  const { containerId } = first.lifecycle.requireRunning(removed.id)
  await first.lifecycle.end()
  const signal = AbortSignal.timeout(10_000)
  const left = (await machine.row(ended.id)).containerId ?? ''
  const agent = await AgentClient.connect(await machine.engine.connect(left, signal), { signal })
  agent.exec({ argv: ['sh', '-c', 'kill -9 $PPID'], login: false, cwd: '/', env: {} })
  await machine.engine.remove(containerId, { graceSeconds: 0 })
  await expect.poll(async () => (await machine.engine.list()).map(({ running }) => running)).toEqual([false])
  const second = await machine.boot()
  for (const { id } of [ended, removed]) {
    expect(second.lifecycle.status({ id }).running).toBe(false)
    expect((await machine.row(id)).containerId).toBeNull()
    expect(await machine.recorded(id)).toEqual(['start api', 'stop reap'])
  }
  expect(await machine.engine.list()).toEqual([])
})

test('a container that no row speaks of is removed', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const first = await machine.boot()
  await first.lifecycle.start(id, API)
  await first.lifecycle.end()
  await machine.change(id, { containerId: null })
  const second = await machine.boot()
  expect(second.lifecycle.find(id)).toBeUndefined()
  expect(await machine.engine.list()).toEqual([])
  expect(await machine.recorded(id)).toEqual(['start api', 'stop reap'])
})

test('an engine that is away at the start is asked again, and until then a start says so', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const first = await machine.boot()
  await first.lifecycle.start(id, API)
  await first.lifecycle.end()

  let isAway = true
  const unless =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (isAway) throw new EngineError('unavailable', 'no engine answers')
      return work(...args)
    }
  const { engine } = machine
  const wrapped = engineWith(engine, {
    list: unless(() => engine.list()),
    inspect: unless((container: string) => engine.inspect(container)),
  })
  const second = await machine.boot({ engine: wrapped })
  expect(second.lifecycle.find(id)).toBeUndefined()
  await expect(second.lifecycle.start(id, API)).rejects.toMatchObject({
    code: 'start_failed',
    message: 'The container could not be started: no engine answers',
  })
  isAway = false
  machine.clock.advance(5_000)
  await expect.poll(() => second.lifecycle.find(id)?.containerId).toBe((await machine.row(id)).containerId)
  expect(await machine.recorded(id)).toEqual(['start api'])
})

test('workspaces come up with the server one after the other, stay up unused, and one that fails holds up no other', async () => {
  const machine = await openMachine({ SVCD_ALLOW_AUTOSTART: 'true' })
  const made: Workspace[] = []
  for (const mounts of [null, ['/etc:/refused'], null]) {
    made.push(await machine.workspace({ autoStart: true, mounts }))
    machine.clock.advance(1000)
  }
  const usual = await machine.workspace()
  const { lifecycle } = await machine.boot()
  const up = () => made.map((workspace) => lifecycle.status(workspace).running)
  await expect.poll(up).toEqual([true, false, false])
  await expect
    .poll(() => {
      machine.clock.advance(1_250)
      return up()
    })
    .toEqual([true, false, true])
  machine.clock.advance(86_400_000)
  expect(up()).toEqual([true, false, true])
  expect(lifecycle.status(usual).running).toBe(false)
  expect(machine.log.records.filter(({ message }) => message.includes('with the server'))).toHaveLength(1)
})

test('without the operator’s leave nothing comes up with the server', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ autoStart: true })
  const { lifecycle } = await machine.boot()
  machine.clock.advance(10_000)
  await lifecycle.end()
  expect(await machine.recorded(id)).toEqual([])
})

test('a look at all containers removes one that is nobody’s, and leaves the others alone', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot()
  await lifecycle.start(id, API)
  const stray = await machine.workspace()
  const other = machine.server()
  await other.lifecycle.start(stray.id, API)
  await other.lifecycle.end()
  await machine.change(stray.id, { containerId: null })
  machine.clock.advance(60_000)
  await expect.poll(async () => (await machine.engine.list()).map(({ workspaceId }) => workspaceId)).toEqual([id])
  expect(lifecycle.status({ id }).running).toBe(true)
  expect(await machine.recorded(stray.id)).toEqual(['start api', 'stop reap'])
})
