import { expect, test } from 'vitest'
import { ChangeGroup, CreateGroup } from './groups.ts'

test('white space around a name is not part of it', () => {
  expect(CreateGroup.parse({ name: '  designers ' })).toEqual({ name: 'designers' })
})

test.each([
  [{}],
  [{ name: null }],
  [{ name: 7 }],
  [{ name: '' }],
  [{ name: ' \t ' }],
  [{ name: 'a\0b' }],
  [{ name: 'two\nlines' }],
  [{ name: '\ud800' }],
  [{ name: 'admins\u200b' }],
  [{ name: 'designers', description: 'a\u001b[2Jb' }],
  [{ name: 'x'.repeat(256) }],
  [{ name: 'designers', description: 'x'.repeat(2001) }],
])('%j is no group', (body) => {
  expect(CreateGroup.safeParse(body).success).toBe(false)
})

test.each([[{}], [{ name: null, description: null }], [{ description: '' }], [{ description: 'two\nlines' }]])(
  '%j has the shape of a change',
  (body) => {
    expect(ChangeGroup.parse(body)).toEqual(body)
  },
)
