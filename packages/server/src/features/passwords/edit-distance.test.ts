import fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance } from './edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['kitten', 'sitting', 3],
  ['flaw', 'lawn', 2],
  ['abc', 'abc', 0],
  ['abc', 'ABC', 3],
  ['ab', 'ba', 2],
  ['😀', '😁', 1], // they share half of their UTF-16 text
  ['a😀b', 'ab', 1],
  ['\u00e9', 'e\u0301', 2], // one composed letter, or a letter and its accent
  ['👩‍👩‍👧', '👩‍👩‍👦', 1], // a family is five code points
])('from %j to %j it takes %d changes', (from, to, expected) => {
  expect(editDistance(from, to)).toBe(expected)
})

/** The definition, word for word; far too slow for anything but a few characters. */
function naiveDistance(from: readonly string[], to: readonly string[]): number {
  if (from.length === 0 || to.length === 0) return from.length + to.length
  const [a, ...restOfFrom] = from
  const [b, ...restOfTo] = to
  if (a === b) return naiveDistance(restOfFrom, restOfTo)
  return 1 + Math.min(naiveDistance(restOfFrom, to), naiveDistance(from, restOfTo), naiveDistance(restOfFrom, restOfTo))
}

// Few different characters, so that texts have something in common.
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀', '\u0301'), maxLength: 6 })

test('it agrees with the definition', () => {
  fc.assert(
    fc.property(texts, texts, (from, to) => {
      expect(editDistance(from, to)).toBe(naiveDistance([...from], [...to]))
    }),
  )
})

test('it is the same both ways, zero only for the same text, and never above the longer length', () => {
  const any = fc.string({ unit: 'binary', maxLength: 72 })
  fc.assert(
    fc.property(any, any, (from, to) => {
      const distance = editDistance(from, to)
      expect(editDistance(to, from)).toBe(distance)
      expect(distance === 0).toBe(from === to)
      expect(distance).toBeLessThanOrEqual(Math.max([...from].length, [...to].length))
    }),
  )
})
