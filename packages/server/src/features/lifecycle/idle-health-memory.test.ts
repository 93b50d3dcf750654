import { expect, test } from 'vitest'
import { engineWith, openMachine } from '../../testing/open-machine.ts'
import { SYSTEM } from './lifecycle-news.ts'

const API = { cause: 'api', actor: SYSTEM } as const

test('a workspace that nobody uses is stopped after its own time, or after the server’s', async () => {
  const machine = await openMachine({ SVCD_IDLE_TIMEOUT_SECONDS: '100' })
  const own = await machine.workspace({ settings: { idle_timeout: 40 } })
  const usual = await machine.workspace()
  const never = await machine.workspace({ settings: { idle_timeout: 0 } })
  const { lifecycle, news } = await machine.boot()
  for (const { id } of [own, usual, never]) await lifecycle.start(id, API)
  machine.clock.advance(30_000)
  lifecycle.requireRunning(own.id).touch()
  machine.clock.advance(30_000)
  expect(lifecycle.status(own)).toMatchObject({ running: true, idleSeconds: 30, idleTimeoutSeconds: 40 })
  machine.clock.advance(10_000)
  await expect.poll(() => news.at(-1)).toMatchObject({ kind: 'stopped', workspaceId: own.id, reason: 'idle timeout' })
  machine.clock.advance(30_000)
  await expect.poll(() => news.at(-1)).toMatchObject({ kind: 'stopped', workspaceId: usual.id })
  expect(await machine.recorded(usual.id)).toEqual(['start api', 'stop idle_timeout'])
  machine.clock.advance(86_400_000)
  expect(lifecycle.status(never).running).toBe(true)
})

test('an edited idle timeout counts from the next start, and an edited default at once', async () => {
  const machine = await openMachine()
  const [own, usual] = [await machine.workspace({ settings: { idle_timeout: 40 } }), await machine.workspace()]
  const { lifecycle } = await machine.boot()
  for (const { id } of [own, usual]) await lifecycle.start(id, API)
  await machine.change(own.id, { settings: { idle_timeout: 5000 } })
  await machine.reconfigure({ SVCD_IDLE_TIMEOUT_SECONDS: '50' })
  expect([own, usual].map((workspace) => lifecycle.status(workspace).idleTimeoutSeconds)).toEqual([40, 50])
})

test('a health check tells how the service does, and only its changes are announced', async () => {
  const machine = await openMachine({ SVCD_IDLE_TIMEOUT_SECONDS: '0' })
  const healthCheck = { command: 'cat /home/svc/well || (echo no such luck >&2; exit 4)' }
  const { id } = await machine.workspace({ healthCheck })
  const { lifecycle, news } = await machine.boot()
  await lifecycle.start(id, API)
  const health = () => {
    const { healthy, healthMessage } = lifecycle.status({ id })
    return [healthy, healthMessage]
  }
  const told = () => news.filter(({ kind }) => kind === 'health')
  // While a check is being made the clock stands still, or it would seem to take too long.
  const later = () => {
    if (lifecycle.requireRunning(id).agent.callCount === 0) machine.clock.advance(1_000)
    return health()
  }
  await expect.poll(later).toEqual([false, expect.stringMatching(/^exited 4: .*no such luck/s)])
  // In the first half minute a failure did not count.
  expect(machine.clock.nowMs() / 1000 - lifecycle.requireRunning(id).startedAt).toBeGreaterThanOrEqual(30)
  expect(told()).toMatchObject([{ healthy: false, running: true, seq: 1 }])

  await machine.change(id, { healthCheck: { command: 'true' } })
  await expect.poll(later).toEqual([true, null])
  await lifecycle.stop(id, { cause: 'stop', actor: SYSTEM })
  expect(told()).toMatchObject([
    { healthy: false, seq: 1 },
    { healthy: true, message: null, seq: 2 },
    { healthy: false, running: false, seq: 3 },
  ])
  expect(lifecycle.status({ id })).toMatchObject({ healthy: null, healthCheckedAt: null })
})

test('a check of a workspace whose setup is not complete is not made', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace({ healthCheck: { command: 'true' }, setupState: 'pending' })
  const { lifecycle, workspaces } = await machine.boot()
  await lifecycle.start(id, API)
  machine.clock.advance(60_000)
  await machine.change(id, { setupState: 'complete' })
  expect(lifecycle.status({ id }).healthy).toBeNull()
  workspaces.changed.announce({ workspaceId: id, userIds: [] })
  machine.clock.advance(0)
  await expect.poll(() => lifecycle.status({ id }).healthy).toBe(true)
})

test('when memory is scarce the longest unused workspace goes, and never one that is wanted', async () => {
  const machine = await openMachine()
  let fraction = 0.5
  const watched = await machine.workspace()
  const { lifecycle, news } = await machine.boot({
    measureMemory: async () => ({ bytes: 1, fraction }),
    hasClients: (id) => id === watched.id,
  })
  const old = await machine.workspace()
  const recent = await machine.workspace()
  const pinned = await machine.workspace({ settings: { idle_timeout: 0 } })
  for (const { id } of [watched, old, recent, pinned]) {
    await lifecycle.start(id, API)
    machine.clock.advance(1000)
  }
  fraction = 0.05
  const evicted = () => news.flatMap((item) => (item.kind === 'evicted' ? [item.workspaceId] : []))
  const poll = async () => {
    machine.clock.advance(10_000)
    await lifecycle.start(watched.id, API)
  }
  await poll()
  await poll()
  expect(evicted()).toEqual([])
  await expect
    .poll(() => {
      machine.clock.advance(10_000)
      return evicted()
    })
    .toEqual([old.id, recent.id])
  await expect.poll(() => machine.recorded(recent.id)).toEqual(['start api', 'stop eviction'])
  await expect
    .poll(() => {
      machine.clock.advance(10_000)
      return machine.log.records.map(({ message }) => message)
    })
    .toContain('memory is scarce, and no workspace may be stopped for it')
  expect([watched, pinned].map((workspace) => lifecycle.status(workspace).running)).toEqual([true, true])
})

test('a workspace that somebody came to meanwhile is not evicted', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  let looks = 0
  const { lifecycle, news } = await machine.boot({
    measureMemory: async () => ({ bytes: 1, fraction: 0.05 }),
    // Nobody is there when it is chosen; somebody is when its turn comes.
    hasClients: () => ++looks > 1,
  })
  await lifecycle.start(id, API)
  await expect
    .poll(() => {
      machine.clock.advance(10_000)
      return looks
    })
    .toBeGreaterThan(1)
  await lifecycle.end()
  expect(news.map(({ kind }) => kind)).toEqual(['started'])
  expect(await machine.engine.list()).toHaveLength(1)
})

test('a server that ends waits for an eviction that is under way', async () => {
  const machine = await openMachine()
  const { id } = await machine.workspace()
  let isRemoving = false
  const engine = engineWith(machine.engine, {
    async remove(container, options) {
      isRemoving = true
      await machine.engine.remove(container, options)
    },
  })
  const { lifecycle } = await machine.boot({ engine, measureMemory: async () => ({ bytes: 1, fraction: 0.05 }) })
  await lifecycle.start(id, API)
  await expect
    .poll(() => {
      if (!isRemoving) machine.clock.advance(10_000)
      return isRemoving
    })
    .toBe(true)
  await lifecycle.end()
  expect([await machine.engine.list(), await machine.recorded(id)]).toEqual([[], ['start api', 'stop eviction']])
})
