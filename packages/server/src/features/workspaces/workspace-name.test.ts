import { describe, expect, test } from 'vitest'
import { copyName, requireName } from './workspace-name.ts'

test.each([
  ['demo', 'demo'],
  ['  my project ', 'my project'],
  ['日本語', '日本語'],
  ['👩‍💻 work', '👩‍💻 work'],
  ['a/b:c', 'a/b:c'],
  ['x'.repeat(255), 'x'.repeat(255)],
])('%j is the name %j', (given, name) => {
  expect(requireName(given)).toBe(name)
})

test.each(['', '   ', '\u200d', '\u0301', 'a\nb', 'a\0b', 'a\u202eb', 'a\u2028b', 'a\ud800', 'x'.repeat(256)])(
  '%j is no name',
  (given) => {
    expect(() => requireName(given)).toThrow('The name ')
  },
)

describe('the name of a copy', () => {
  test.each([
    ['demo', [], 'demo-copy'],
    ['demo', ['demo', 'demo-copy'], 'demo-copy-2'],
    ['demo', ['demo-copy', 'demo-copy-2', 'demo-copy-4'], 'demo-copy-3'],
    ['demo-copy', ['demo-copy'], 'demo-copy-copy'],
    ['x'.repeat(255), [], `${'x'.repeat(250)}-copy`],
    [`${'x'.repeat(249)}🔒`, [], `${'x'.repeat(249)}-copy`],
  ])('%j beside %j is %j', (name, taken, copy) => {
    expect(copyName(name, new Set(taken))).toBe(copy)
    expect(requireName(copy)).toBe(copy)
  })
})
