import { expect, test } from 'vitest'
import { keptPrivately } from './cache-control.ts'

test.each<[string[] | undefined, string]>([
  [undefined, 'private'],
  [['max-age=60'], 'private, max-age=60'],
  [['public, max-age=60, S-MaxAge=3600, immutable'], 'private, max-age=60, immutable'],
  [['no-store', 'Public'], 'private, no-store'],
  [['private'], 'private'],
])('of %j a cache between is told %j', (given, expected) => {
  expect(keptPrivately(given)).toBe(expected)
})
