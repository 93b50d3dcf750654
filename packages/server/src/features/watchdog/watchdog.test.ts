import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { cpuPressurePercent, filesystemUsage, memoryUsagePercent } from './measure.ts'
import { Watchdog, type WatchdogSettings } from './watchdog.ts'

function watching(changes: Partial<WatchdogSettings> = {}) {
  const clock = new FakeClock(Date.UTC(2026, 8, 7, 12))
  const log = new MemoryLog()
  const readings = {
    disks: { '/data': 10, '/state': 10 } as Record<string, number>,
    memory: 10,
    cpu: 5 as number | undefined,
  }
  const settings = {
    enabled: true,
    pollIntervalSeconds: 60,
    paths: ['/data', '/state'],
    disk: { warnPercent: 75, criticalPercent: 90 },
    memory: { enabled: true, warnPercent: 80, criticalPercent: 90 },
    cpu: { enabled: true, warnPercent: 30, criticalPercent: 60 },
    ...changes,
  }
  const watchdog = new Watchdog({
    settings: () => settings,
    clock,
    log,
    measure: {
      async filesystem(path) {
        const usagePercent = readings.disks[path]
        if (usagePercent === undefined) throw new Error(`no such directory: ${path}`)
        return { device: Object.keys(readings.disks).indexOf(path), usagePercent }
      },
      memoryPercent: async () => readings.memory,
      cpuPercent: async () => readings.cpu,
    },
  })
  return { watchdog, clock, log, readings, settings }
}

test('a reading lists every filesystem, memory and processors, and when it was taken', async () => {
  const { watchdog, readings } = watching()
  readings.disks['/data'] = 91.26
  await watchdog.poll()
  expect(watchdog.latest).toEqual({
    filesystems: [
      { path: '/data', usage_percent: 91.3, state: 'critical' },
      { path: '/state', usage_percent: 10, state: 'ok' },
    ],
    memory: { usage_percent: 10, state: 'ok' },
    cpu: { psi_avg60_percent: 5, state: 'ok' },
    last_poll: '2026-09-07T12:00:00+00:00',
  })
})

test('it looks again after each interval until it is stopped', async () => {
  const { watchdog, clock, readings } = watching()
  await watchdog.start()
  readings.memory = 95
  clock.advance(60_000)
  await expect.poll(() => watchdog.latest?.memory?.state).toBe('critical')
  watchdog.stop()
  readings.memory = 10
  clock.advance(600_000)
  expect(watchdog.latest?.memory?.state).toBe('critical')
})

test('what cannot be measured is null and said once', async () => {
  const { watchdog, log, readings } = watching()
  readings.cpu = undefined
  delete readings.disks['/state']
  await watchdog.poll()
  await watchdog.poll()
  expect(watchdog.latest).toMatchObject({ cpu: null, filesystems: [{ path: '/data' }] })
  expect(log.records.map((line) => line.message)).toEqual([
    'cannot measure disk /state; it is not watched',
    'cannot measure cpu; it is not watched',
  ])
})

test('a path that is no longer watched is forgotten', async () => {
  const { watchdog, readings, settings } = watching()
  readings.disks['/state'] = 99
  await watchdog.poll()
  settings.paths = ['/data']
  await watchdog.poll()
  expect(watchdog.latest?.filesystems).toEqual([{ path: '/data', usage_percent: 10, state: 'ok' }])
  settings.paths = ['/data', '/state']
  readings.disks['/state'] = 74 // inside the band that would keep an old warning alive
  await watchdog.poll()
  expect(watchdog.latest?.filesystems[1]).toEqual({ path: '/state', usage_percent: 74, state: 'ok' })
})

test('two folders on one disk are one entry', async () => {
  const { watchdog, settings } = watching()
  settings.paths = ['/data', '/data']
  await watchdog.poll()
  expect(watchdog.latest?.filesystems).toHaveLength(1)
})

test('switched off it reports nothing', async () => {
  const { watchdog } = watching({ enabled: false })
  await watchdog.poll()
  expect(watchdog.latest).toBeUndefined()
})

test('this machine can be measured', async () => {
  expect((await filesystemUsage('/')).usagePercent).toBeGreaterThan(0)
  expect(await memoryUsagePercent()).toBeGreaterThan(0)
  expect((await cpuPressurePercent()) ?? 0).toBeGreaterThanOrEqual(0)
})
