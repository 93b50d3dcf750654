import { expect, test } from 'vitest'
import { Background } from '../../kernel/background.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import { CALM, type EvictionCandidate, Evictor, nextPressure, type Pressure } from './eviction.ts'

const settings = {
  evictionEnabled: true,
  evictionThresholdPercent: 10,
  evictionRecoveryPercent: 15,
  evictionSustainPolls: 3,
  evictionPollIntervalSeconds: 10,
}

function after(percents: readonly number[]): Pressure {
  return percents.reduce<Pressure>((pressure, percent) => nextPressure(pressure, percent, settings), CALM)
}

test.each<[string, number[], Pressure]>([
  ['two low polls are not enough', [9, 9], { state: 'calm', lowPolls: 2 }],
  ['three in a row are', [9, 9, 9], { state: 'evicting' }],
  ['one that is not low begins the count anew', [9, 9, 10, 9], { state: 'calm', lowPolls: 1 }],
  ['between the limits an episode goes on', [9, 9, 9, 14], { state: 'evicting' }],
  ['at the recovery limit it is over', [9, 9, 9, 15], CALM],
])('%s', (_, percents, pressure) => {
  expect(after(percents)).toEqual(pressure)
})

function evictor(percents: number[], candidates: EvictionCandidate[]) {
  const clock = new FakeClock()
  const log = new MemoryLog()
  const evicted: string[] = []
  const made = new Evictor({
    settings: () => settings,
    measure: async () => {
      const percent = percents.shift()
      return percent === undefined ? undefined : { bytes: percent, fraction: percent / 100 }
    },
    candidates: () => candidates.filter(({ workspaceId }) => !evicted.includes(workspaceId)),
    evict: async (workspaceId) => void evicted.push(workspaceId),
    background: new Background(log),
    clock,
    log,
  })
  const poll = async (times: number) => {
    for (let time = 0; time < times; time++) await made.poll()
  }
  return { poll, evicted, log, clock, made }
}

test('one workspace is stopped at each poll, the longest unused first, until memory recovers', async () => {
  const { poll, evicted } = evictor(
    [5, 5, 5, 5, 12, 16, 5, 5],
    [
      { workspaceId: 'busy', lastActivityMs: 30 },
      { workspaceId: 'forgotten', lastActivityMs: 10 },
      { workspaceId: 'used', lastActivityMs: 20 },
    ],
  )
  await poll(2)
  expect(evicted).toEqual([])
  await poll(1)
  expect(evicted).toEqual(['forgotten'])
  await poll(1)
  expect(evicted).toEqual(['forgotten', 'used'])
  await poll(4)
  expect(evicted).toEqual(['forgotten', 'used'])
})

test('without anybody to stop an operator is told once in an episode', async () => {
  const { poll, log } = evictor([5, 5, 5, 5, 5, 20, 5, 5, 5], [])
  await poll(9)
  expect(log.records.map(({ message }) => message)).toEqual([
    'memory is scarce, and no workspace may be stopped for it',
    'memory is scarce, and no workspace may be stopped for it',
  ])
})

test('memory that cannot be measured is said once, and evicts nobody', async () => {
  const { poll, log, evicted } = evictor([], [{ workspaceId: 'one', lastActivityMs: 0 }])
  await poll(5)
  expect([evicted, log.records.length]).toEqual([[], 1])
})

test('it goes on polling, and a failure does not end it', async () => {
  const { clock, made, evicted } = evictor([5, 5, 5], [{ workspaceId: 'one', lastActivityMs: 0 }])
  made.begin()
  await expect
    .poll(() => {
      clock.advance(10_000)
      return evicted
    })
    .toEqual(['one'])
  made.end()
})
