import { expect, test } from 'vitest'
import type { ContainerEngine } from '../../engine/container-engine.ts'
import { EngineError } from '../../engine/container-engine.ts'
import { engineWith, openMachine, run } from '../../testing/open-machine.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const
const STOP = { cause: 'stop', actor: SYSTEM } as const
const RESTARTS = { SVCD_CONTAINER_RESTART_ENABLED: 'true' }

test('an engine that fails after it has removed a container has stopped it', async () => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  const engine = engineWith(machine.engine, {
    async remove(container, options) {
      await machine.engine.remove(container, options)
      throw new EngineError('failed', 'device or resource busy')
    },
  })
  const { lifecycle, news } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  await lifecycle.stop(id, STOP)
  expect(lifecycle.status({ id })).toMatchObject({ running: false, restart: undefined })
  expect((await machine.row(id)).containerId).toBeNull()
  expect(news.map(({ kind }) => kind)).toEqual(['started', 'stopping', 'stopped'])
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop'])
})

test('a container that ended and could not be removed is stopped, and removed at the next look', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  let isStuck = true
  const engine: ContainerEngine = engineWith(machine.engine, {
    async remove(container, options) {
      if (!isStuck) return machine.engine.remove(container, options)
      await run(running, 'kill -9 $PPID').catch(() => undefined)
      await expect.poll(async () => (await machine.engine.inspect(container))?.running).toBe(false)
      throw new EngineError('failed', 'device or resource busy')
    },
  })
  const { lifecycle, news } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  const running = lifecycle.requireRunning(id)
  await lifecycle.stop(id, STOP)
  expect(news.at(-1)).toMatchObject({ kind: 'stopped' })
  isStuck = false
  machine.clock.advance(60_000)
  await expect.poll(() => machine.engine.list()).toEqual([])
  await expect.poll(() => machine.recorded(id)).toEqual(['start api', 'stop stop', 'stop reap'])
})

test('a container that ends after a stop nobody could tell the end of is stopped, and not started again', async () => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  let isAway = false
  const away = new EngineError('unavailable', 'no engine answers')
  const engine = engineWith(machine.engine, {
    async remove(container, options) {
      await machine.engine.remove(container, options)
      if (isAway) throw away
    },
    inspect: (container) => (isAway ? Promise.reject(away) : machine.engine.inspect(container)),
  })
  const { lifecycle, news } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  isAway = true
  await expect(lifecycle.stop(id, STOP)).rejects.toMatchObject({ code: 'unavailable' })
  isAway = false
  await expect
    .poll(() => {
      machine.clock.advance(1_000)
      return news.at(-1)
    })
    .toMatchObject({ kind: 'stopped', cause: 'stop' })
  machine.clock.advance(60_000)
  expect(lifecycle.status({ id })).toMatchObject({ running: false, restart: undefined })
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop'])
})

test('an agent that was lost while its container could not be stopped is found again', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const engine: ContainerEngine = engineWith(machine.engine, {
    async remove() {
      before.close()
      await before.lost
      throw new EngineError('failed', 'no')
    },
  })
  const { lifecycle, news } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  const before = lifecycle.requireRunning(id).agent
  await expect(lifecycle.stop(id, STOP)).rejects.toMatchObject({ code: 'unavailable' })
  await expect.poll(() => news.at(-1)?.kind).toBe('reconnected')
  await lifecycle.requireRunning(id).agent.ping()
})

test('what is left of a failed start and cannot be removed is not taken up, but removed at the next look', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  let isStuck = true
  const engine = engineWith(machine.engine, {
    connect: (container, signal) =>
      isStuck ? Promise.reject(new EngineError('failed', 'no agent')) : machine.engine.connect(container, signal),
    remove: (container, options) =>
      isStuck ? Promise.reject(new EngineError('failed', 'no')) : machine.engine.remove(container, options),
  })
  const { lifecycle } = await machine.boot({ engine })
  await expect(lifecycle.start(id, API)).rejects.toMatchObject({ code: 'start_failed' })
  expect(await machine.engine.list()).toMatchObject([{ running: true }])
  expect((await machine.row(id)).containerId).toBeNull()
  isStuck = false
  machine.clock.advance(60_000)
  await expect.poll(() => machine.engine.list()).toEqual([])
  expect(lifecycle.status({ id }).running).toBe(false)
  await expect.poll(() => machine.recorded(id)).toEqual(['start api', 'stop start_failed', 'stop reap'])
})

test('a container that is stopped while the containers are being listed has one row', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  const looked = Promise.withResolvers<void>()
  const engine = engineWith(machine.engine, {
    async list() {
      const listed = await machine.engine.list()
      if (listed.length > 0) {
        await lifecycle.stop(id, STOP)
        looked.resolve()
      }
      return listed
    },
  })
  const { lifecycle } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  machine.clock.advance(60_000)
  await looked.promise
  await lifecycle.end()
  expect(await machine.recorded(id)).toEqual(['start api', 'stop stop'])
})

test('a start that finds the container gone tells of its end, and of no other restart', async () => {
  const machine = await openMachine(RESTARTS)
  const { id } = await machine.workspace()
  let isGone = false
  const engine = engineWith(machine.engine, {
    inspect: async (container) => (isGone ? undefined : machine.engine.inspect(container)),
  })
  const { lifecycle, news } = await machine.boot({ engine })
  await lifecycle.start(id, API)
  isGone = true
  expect(await lifecycle.start(id, API)).toBe('started')
  isGone = false
  expect(news.map(({ kind }) => kind)).toEqual(['started', 'stopping', 'died', 'started'])
  expect(news[2]).toMatchObject({ cause: 'removed', restart: { inSeconds: null } })
  expect(lifecycle.status({ id })).toMatchObject({ running: true, restart: undefined })
})
