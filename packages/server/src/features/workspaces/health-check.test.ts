import { expect, test } from 'vitest'
import { readHealthCheck } from './health-check.ts'

test.each([
  ['curl -f localhost:8000', { command: 'curl -f localhost:8000' }],
  [{ command: 'true' }, { command: 'true' }],
  [
    { command: 'true', interval: 5, timeout: 0.5, grace: 0 },
    { command: 'true', interval: 5, timeout: 0.5, grace: 0 },
  ],
  ['', null],
  ['  ', null],
  [null, null],
])('%j is kept as %j', (given, kept) => {
  expect(readHealthCheck(given)).toEqual(kept)
})

test.each([
  [{ command: '' }, 'health_check needs a command'],
  [{ command: ' \n' }, 'health_check needs a command'],
  ['true\0', 'must not hold a NUL'],
  [{ command: 'true', interval: 0 }, 'interval of health_check must be seconds within a day'],
  [{ command: 'true', timeout: -1 }, 'timeout of health_check must be seconds within a day'],
  [{ command: 'true', grace: -0.1 }, 'grace of health_check must be seconds within a day'],
  [{ command: 'true', interval: 86_401 }, 'interval of health_check must be seconds within a day'],
  [{ command: 'true', timeout: Number.NaN }, 'timeout of health_check must be seconds within a day'],
])('%j is refused', (given, why) => {
  expect(() => readHealthCheck(given)).toThrow(why)
})
