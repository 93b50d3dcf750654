import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import type { HealthCheck } from '../workspaces/workspace.ts'
import { HealthChecks } from './health-checks.ts'

/** Workspaces whose services answer `well`, or `never`. */
function subjects() {
  const clock = new FakeClock()
  const log = new MemoryLog()
  const checks = new Map<string, HealthCheck>()
  const asked: string[] = []
  const givenUp: string[] = []
  const health = new HealthChecks({
    checkOf: async (id) => checks.get(id) ?? null,
    settings: () => ({
      healthCheckIntervalSeconds: 30,
      healthCheckStartupGraceSeconds: 0,
      healthCheckTimeoutSeconds: 5,
    }),
    announce: () => undefined,
    clock,
    log,
    random: () => 0.5,
  })
  const watch = (workspaceId: string, check: HealthCheck) => {
    checks.set(workspaceId, check)
    health.watch({
      workspaceId,
      serviceStartedAt: clock.nowMs() / 1000,
      checkHealth: (command, _, { signal }) => {
        asked.push(`${workspaceId} ${command}`)
        if (command === 'well') return Promise.resolve({ code: 0, output: '' })
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            givenUp.push(`${workspaceId} ${command}`)
            reject(signal.reason)
          })
        })
      },
    })
  }
  return { clock, checks, asked, givenUp, health, watch }
}

test('checks that hang hold up nobody else’s', async () => {
  const { clock, asked, health, watch } = subjects()
  for (let number = 0; number < 20; number++) watch(`hanging ${number}`, { command: 'never', timeout: 86_400 })
  clock.advance(0)
  await expect.poll(() => asked).toHaveLength(20)
  watch('other', { command: 'well' })
  clock.advance(0)
  await expect.poll(() => health.find('other')?.healthy).toBe(true)
})

test('an agent that never answers counts as a check that took too long, and is asked again later', async () => {
  const { clock, asked, health, watch } = subjects()
  watch('silent', { command: 'never', timeout: 2 })
  clock.advance(0)
  await expect.poll(() => asked).toHaveLength(1)
  clock.advance(6_999)
  expect(health.find('silent')?.healthy).toBeNull()
  clock.advance(1)
  await expect.poll(() => health.find('silent')).toMatchObject({ healthy: false, message: 'timed out after 2 s' })
  clock.advance(30_000)
  await expect.poll(() => asked).toHaveLength(2)
})

test('a workspace has one check under way, however often it is edited, and another check ends it', async () => {
  const { clock, checks, asked, givenUp, health, watch } = subjects()
  watch('edited', { command: 'never', timeout: 86_400 })
  clock.advance(0)
  await expect.poll(() => asked).toHaveLength(1)
  for (let time = 0; time < 5; time++) {
    health.recheck('edited')
    clock.advance(0)
    await new Promise(setImmediate)
  }
  expect([asked, givenUp]).toEqual([['edited never'], []])
  checks.set('edited', { command: 'well' })
  health.recheck('edited')
  clock.advance(0)
  await expect.poll(() => health.find('edited')?.healthy).toBe(true)
  expect(givenUp).toEqual(['edited never'])
})

test('checks are on time while each is made and answered when it is due, and late otherwise', async () => {
  const { clock, checks, asked, health, watch } = subjects()
  expect(health.isOnTime).toBe(true)
  watch('unchecked', { command: 'well' })
  checks.delete('unchecked')
  watch('slow', { command: 'never', timeout: 60 })
  clock.advance(0)
  await expect.poll(() => asked).toHaveLength(1)
  clock.advance(60_000)
  expect(health.isOnTime).toBe(true)
  // The answer was due by now, and nobody had the time to note that it is late.
  clock.advance(5_000 + 10_000)
  expect(health.isOnTime).toBe(false)
  await expect.poll(() => health.find('slow')?.healthy).toBe(false)
  expect(health.isOnTime).toBe(true)
})

test('those that were asked are known, and the others are not', async () => {
  const { clock, health, watch } = subjects()
  watch('well', { command: 'well' })
  watch('silent', { command: 'never' })
  clock.advance(0)
  await expect.poll(() => health.known()).toHaveLength(1)
  expect(health.known()).toEqual([
    { workspaceId: 'well', healthy: true, message: null, checkedAt: clock.nowMs() / 1000, seq: 1 },
  ])
  health.forget('well')
  expect(health.known()).toEqual([])
})
