import { expect, test } from 'vitest'
import { type RestartEvent, type RestartPolicy, type RestartRecord, stillTrue, transition } from './restart-record.ts'

const policy: RestartPolicy = { enabled: true, maxRetries: 3, backoffSeconds: 5 }
const died: RestartEvent = { type: 'died', cause: 'exited' }

function after(events: readonly RestartEvent[], at: Partial<{ policy: RestartPolicy; nowSeconds: number }> = {}) {
  let record: RestartRecord | undefined
  for (const event of events) record = transition(record, event, { nowSeconds: 1000, policy, ...at })
  return record
}

test('without automatic restarts a container that ended stays dead', () => {
  const off = { policy: { ...policy, enabled: false } }
  expect(after([died], off)).toEqual({ state: 'dead', attempts: 0, lastCause: 'exited' })
})

test('a first death is followed by a restart after the base backoff', () => {
  expect(after([died])).toEqual({ state: 'backing-off', attempts: 0, lastCause: 'exited', nextAttemptAt: 1005 })
})

test('a restart counts as an attempt and begins a recovery', () => {
  expect(after([died, { type: 'restarted' }])).toMatchObject({ state: 'recovering', attempts: 1, startedAt: 1000 })
})

test.each([
  [1, 5],
  [2, 10],
  [3, 20],
])('before attempt %i the wait is %i s', (attempt, wait) => {
  const events = Array.from({ length: attempt - 1 }, () => [died, { type: 'restarted' } as const]).flat()
  expect(after([...events, died])).toMatchObject({ state: 'backing-off', nextAttemptAt: 1000 + wait })
})

test('no wait is longer than a minute', () => {
  const patient = { ...policy, backoffSeconds: 50, maxRetries: 100 }
  const record: RestartRecord = { state: 'recovering', attempts: 40, lastCause: 'oom', startedAt: 999 }
  expect(transition(record, died, { nowSeconds: 1000, policy: patient })).toMatchObject({ nextAttemptAt: 1060 })
})

test('after the last attempt the server gives up', () => {
  const loop = [died, { type: 'restarted' } as const]
  const record = after([...loop, ...loop, ...loop, died])
  expect(record).toEqual({ state: 'crash-loop', attempts: 3, lastCause: 'exited', gaveUpAt: 1000 })
})

test('a restart that fails uses up an attempt as well', () => {
  const failed: RestartEvent = { type: 'restart failed' }
  expect(after([died, failed])).toMatchObject({ state: 'backing-off', attempts: 1, nextAttemptAt: 1010 })
  expect(after([died, failed, failed, failed])).toMatchObject({ state: 'crash-loop', attempts: 3 })
})

test('an attempt that is dropped leaves the cause to be read', () => {
  expect(after([died, { type: 'dropped' }])).toEqual({ state: 'dead', attempts: 0, lastCause: 'exited' })
})

test('a container that runs for ten minutes has nothing left to tell, and starts counting anew', () => {
  const record = after([died, { type: 'restarted' }])
  expect(stillTrue(record, 1599)).toBe(record)
  expect(stillTrue(record, 1600)).toBeUndefined()
  expect(transition(record, died, { nowSeconds: 1600, policy })).toMatchObject({ attempts: 0, nextAttemptAt: 1605 })
})
