import { expect, test } from 'vitest'
import { readBanner } from './classification-banner.ts'

test.each([
  ['INTERNAL', 'INTERNAL'],
  ['  INTERNAL // ONLY ', 'INTERNAL // ONLY'],
  ['\u00a0SECRET\n', 'SECRET'],
  ['', null],
  [' \t ', null],
  [null, null],
  ['🔒'.repeat(120), '🔒'.repeat(120)],
])('%j is kept as %j', (given, kept) => {
  expect(readBanner(given)).toBe(kept)
})

test.each(['x'.repeat(121), '🔒'.repeat(121)])('at most 120 characters, however they are stored', (given) => {
  expect(() => readBanner(given)).toThrow('at most 120 characters')
})

test.each([
  ['a line break', 'a\nb'],
  ['a tab', 'a\tb'],
  ['an escape', '\u001b[31mred'],
  ['a joiner', 'a\u200db'],
  ['a byte order mark', '\ufeffa'],
  ['a right-to-left override', 'a\u202eb'],
  ['a line separator', 'a\u2028b'],
  ['a paragraph separator', 'a\u2029b'],
  ['half a pair', 'a\ud800'],
])('%s is refused', (_, given) => {
  expect(() => readBanner(given)).toThrow('one line of printable characters')
})
