import { expect, test } from 'vitest'
import { healthMessage } from './health-result.ts'

test.each([
  [{ code: 0, output: 'all is well' }, null],
  [{ code: 7, output: 'connection refused\n' }, 'exited 7: connection refused'],
  [{ code: 1, output: '' }, 'exited 1'],
  [{ code: null, output: 'still waiting' }, 'timed out after 10 s: still waiting'],
])('%j is told as %j', (result, message) => {
  expect(healthMessage(result, 10_000)).toBe(message)
})

test('of a long output the last 512 bytes are kept, without half a character', () => {
  const message = healthMessage({ code: 1, output: `${'x'.repeat(1000)}${'é'.repeat(255)}!` }, 1000)
  expect(message).toBe(`exited 1: x${'é'.repeat(255)}!`)
  expect(healthMessage({ code: 1, output: 'é'.repeat(300) }, 1000)).toBe(`exited 1: ${'é'.repeat(256)}`)
  expect(healthMessage({ code: 1, output: `${'é'.repeat(300)}!` }, 1000)).toBe(`exited 1: ${'é'.repeat(255)}!`)
})
