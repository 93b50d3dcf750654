import { expect, test } from 'vitest'
import { isQuicklyRead } from './json-bounds.ts'

const MANY = 100_000

test.each([
  ['a short one, however deep', '['.repeat(1000), true],
  ['one long text', JSON.stringify({ cmd: 'terminal_input', data: 'x'.repeat(MANY) }), true],
  ['a text full of quotes, brackets and backslashes', JSON.stringify({ data: '"[{\\'.repeat(MANY) }), true],
  [
    'a thousand arguments',
    JSON.stringify({ command: Array.from({ length: 1000 }, (_, index) => `argument ${index}`) }),
    true,
  ],
  ['brackets in brackets', '['.repeat(2000), false],
  ['brackets in brackets that close', '['.repeat(2000) + ']'.repeat(2000), false],
  ['objects in objects', '{"a":'.repeat(1000), false],
  ['an endless list', `[${'0,'.repeat(MANY)}0]`, false],
  ['an endless list of nothing', `[${'[],'.repeat(MANY)}0]`, false],
  ['endless white space', `{}${' '.repeat(MANY)}`, false],
  ['brackets behind a text that seems to go on', `{"a":"\\\\"${',[]'.repeat(MANY)}}`, false],
])('%s', (_, text, expected) => {
  expect(isQuicklyRead(Buffer.from(text), { maxStructureBytes: 32 * 1024 })).toBe(expected)
})
