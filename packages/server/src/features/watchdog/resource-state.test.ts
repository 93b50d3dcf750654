import type { ResourceState } from '@svc/protocol/instance'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextState } from './resource-state.ts'

const thresholds = { warnPercent: 75, criticalPercent: 90 }

test.each<[ResourceState, number, ResourceState, string]>([
  ['ok', 74.9, 'ok', 'below the threshold'],
  ['ok', 75, 'warn', 'at the threshold'],
  ['ok', 95, 'critical', 'a jump skips the middle'],
  ['warn', 72, 'warn', 'not far enough below'],
  ['warn', 70, 'ok', 'five points below'],
  ['critical', 86, 'critical', 'not far enough below'],
  ['critical', 85, 'warn', 'five points below, still above warn'],
  ['critical', 71, 'warn', 'relaxes to warn while inside its band'],
  ['critical', 10, 'ok', 'far below'],
])('from %s at %f %%: %s, because %s', (before, percent, expected) => {
  expect(nextState(before, percent, thresholds)).toBe(expected)
})

test('measuring the same value twice never changes the state again', () => {
  const states = fc.constantFrom<ResourceState>('ok', 'warn', 'critical')
  fc.assert(
    fc.property(states, fc.double({ min: 0, max: 100, noNaN: true }), (before, percent) => {
      const once = nextState(before, percent, thresholds)
      expect(nextState(once, percent, thresholds)).toBe(once)
    }),
  )
})
