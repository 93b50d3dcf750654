import { expect, test } from 'vitest'
import { engineWith, openMachine } from '../../testing/open-machine.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const

test('a drain stops everything at once, and meanwhile nothing starts', async () => {
  const machine = await openMachine()
  const { lifecycle, news } = await machine.boot()
  const made = await Promise.all(Array.from({ length: 4 }, () => machine.workspace()))
  for (const { id } of made.slice(0, 3)) await lifecycle.start(id, API)
  const drained = lifecycle.drain('shutdown')
  await expect(lifecycle.start(made[3]?.id ?? '', API)).rejects.toMatchObject({ code: 'draining' })
  await expect(lifecycle.restart(made[0]?.id ?? '', { actor: SYSTEM })).rejects.toMatchObject({ code: 'draining' })
  await drained
  expect(await machine.engine.list()).toEqual([])
  for (const { id } of made.slice(0, 3)) expect(await machine.recorded(id)).toEqual(['start api', 'stop shutdown'])
  expect(news.filter(({ kind }) => kind === 'stopped')).toHaveLength(3)
  await lifecycle.end()
  expect(machine.log.records.filter(({ level }) => level === 'ERROR')).toEqual([])
  expect(news.find(({ kind }) => kind === 'stopped')).toMatchObject({ reason: 'host shutdown' })
})

test('starts that are under way are ended by a drain', async () => {
  const machine = await openMachine()
  const { lifecycle } = await machine.boot()
  const made = await Promise.all(Array.from({ length: 5 }, () => machine.workspace()))
  const starts = Promise.allSettled(made.map(({ id }) => lifecycle.start(id, API)))
  await expect.poll(async () => (await machine.engine.list()).length).toBeGreaterThan(0)
  await lifecycle.drain()
  for (const result of await starts) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'draining' } })
  expect(await machine.engine.list()).toEqual([])
  for (const { id } of made) expect((await machine.row(id)).containerId).toBeNull()
})

test('after a drain that was no end workspaces can be started again', async () => {
  const machine = await openMachine({ SVCD_ALLOW_AUTOSTART: 'true' })
  const { lifecycle } = await machine.boot()
  const always = await machine.workspace({ autoStart: true })
  const { id } = await machine.workspace()
  await lifecycle.start(id, API)
  await lifecycle.drain()
  expect(await machine.recorded(id)).toEqual(['start api', 'stop drain'])
  lifecycle.resume()
  await expect.poll(() => lifecycle.status(always).running).toBe(true)
  expect(await lifecycle.start(id, API)).toBe('started')
})

test('an engine that cannot stop a container does not hold up a drain', async () => {
  const machine = await openMachine()
  const stuck = engineWith(machine.engine, { remove: () => Promise.reject(new Error('no')) })
  const { id } = await machine.workspace()
  const { lifecycle, news } = await machine.boot({ engine: stuck })
  await lifecycle.start(id, API)
  await expect(lifecycle.stop(id, { cause: 'stop', actor: SYSTEM })).rejects.toMatchObject({ code: 'unavailable' })
  expect(lifecycle.status({ id }).running).toBe(true)
  expect(news.map(({ kind }) => kind)).toEqual(['started', 'stopping', 'started'])
  await lifecycle.drain('shutdown')
  expect(await machine.recorded(id)).toEqual(['start api'])
})

test('one container that cannot be cleared away holds up no other', async () => {
  const machine = await openMachine()
  const [stuck, usual] = [await machine.workspace(), await machine.workspace()]
  const earlier = machine.server()
  for (const { id } of [stuck, usual]) await earlier.lifecycle.start(id, API)
  await earlier.lifecycle.end()
  const left = (await machine.row(stuck.id)).containerId ?? ''
  const engine = engineWith(machine.engine, {
    remove: (container, options) =>
      container === left ? Promise.reject(new Error('no')) : machine.engine.remove(container, options),
  })
  const { lifecycle } = machine.server({ engine })
  await lifecycle.drain('shutdown')
  expect(await machine.engine.list()).toMatchObject([{ id: left }])
  expect(machine.log.records.at(-1)).toMatchObject({
    message: 'a workspace could not be stopped',
    fields: { workspace: stuck.id },
  })
})

test('starts can be refused while what runs goes on', async () => {
  const machine = await openMachine()
  const { lifecycle } = await machine.boot()
  const [{ id }, other] = [await machine.workspace(), await machine.workspace()]
  await lifecycle.start(id, API)
  lifecycle.refuseStarts()
  await expect(lifecycle.start(other.id, API)).rejects.toMatchObject({ code: 'draining' })
  expect(await lifecycle.start(id, API)).toBe('already_running')
  await lifecycle.requireRunning(id).agent.ping()
  await lifecycle.drain('shutdown')
  expect(await machine.engine.list()).toEqual([])
})

test('a stop that hangs is waited for half a minute', async () => {
  const machine = await openMachine()
  const hanging = engineWith(machine.engine, { remove: () => new Promise(() => undefined) })
  const { id } = await machine.workspace()
  const { lifecycle } = await machine.boot({ engine: hanging })
  await lifecycle.start(id, API)
  const drained = lifecycle.drain('shutdown')
  machine.clock.advance(30_000)
  await drained
  expect(machine.log.records.at(-1)).toMatchObject({ level: 'ERROR', message: 'not all workspaces could be stopped' })
})
