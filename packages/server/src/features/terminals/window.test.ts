import { expect, test } from 'vitest'
import { labelOf, requireName, type TerminalWindow, windowFrom, windowsToWire } from './window.ts'

const WINDOW: TerminalWindow = { n: 3, ownerId: 'ann', name: 'term', isShared: true, channel: 4_000_000_000 }
const FIELDS = { n: 3, owner: 'ann', name: 'term', shared: false, channel: 7 }

test('a window is read from its label as it was written', () => {
  expect(windowFrom({ id: 'w3', label: labelOf(WINDOW) })).toEqual(WINDOW)
})

test('the longest label fits in what the agent keeps', () => {
  const longest = { ...WINDOW, n: 1_000_000_000, ownerId: 'x'.repeat(64), name: 'x'.repeat(64) }
  expect(labelOf(longest).length).toBeLessThan(1024)
  expect(windowFrom({ id: 'w1000000000', label: labelOf(longest) })).toEqual(longest)
})

test.each<[why: string, id: string, label: string]>([
  ['it has none', 'w3', ''],
  ['it is no JSON', 'w3', '{'],
  ['it is no object', 'w3', '[3]'],
  ['it is null', 'w3', 'null'],
  ['the terminal has another number', 'w4', JSON.stringify(FIELDS)],
  ['the terminal is the service', 'service', JSON.stringify({ ...FIELDS, n: 0 })],
  ['its number is that of the service', 'w0', JSON.stringify({ ...FIELDS, n: 0 })],
  ['its number is none', 'w1.5', JSON.stringify({ ...FIELDS, n: 1.5 })],
  ['its number is beyond measure', 'w1e300', JSON.stringify({ ...FIELDS, n: 1e300 })],
  ['its owner is missing', 'w3', JSON.stringify({ ...FIELDS, owner: undefined })],
  ['its owner is endless', 'w3', JSON.stringify({ ...FIELDS, owner: 'x'.repeat(65) })],
  ['its name could draw on the screen', 'w3', JSON.stringify({ ...FIELDS, name: '\x1b[2J' })],
  ['its name is empty', 'w3', JSON.stringify({ ...FIELDS, name: '' })],
  ['whether it is shared is a word', 'w3', JSON.stringify({ ...FIELDS, shared: 'false' })],
  ['its channel is that of the service', 'w3', JSON.stringify({ ...FIELDS, channel: 0 })],
  ['its channel is too high', 'w3', JSON.stringify({ ...FIELDS, channel: 2 ** 32 })],
])('a label is not ours when %s', (_why, id, label) => {
  expect(windowFrom({ id, label })).toBeUndefined()
})

test.each(['a', 'x'.repeat(64), 'my term', 'a.b_c-d', '0'])('%j is a name', (name) => {
  expect(requireName(name)).toBe(name)
})

test.each(['', 'x'.repeat(65), 'a/b', 'ü', 'a\nb', '<b>', 'a\x1b'])('%j is no name', (name) => {
  expect(() => requireName(name)).toThrow(expect.objectContaining({ code: 'invalid' }))
})

test('a window without a name is called term', () => {
  expect(requireName(undefined)).toBe('term')
})

test('windows are listed with their place, and one of them is active', () => {
  const [one, other] = [
    { ...WINDOW, n: 2 },
    { ...WINDOW, n: 9, name: 'logs' },
  ]
  expect(windowsToWire([one, other], other)).toEqual([
    { id: '@2', index: 0, name: 'term', active: false },
    { id: '@9', index: 1, name: 'logs', active: true },
  ])
})
