import { expect, test } from 'vitest'
import { containerPath, nameIn, pathIn } from './container-path.ts'

test.each([
  ['/', '/'],
  ['/a/b', '/a/b'],
  ['/a/b/', '/a/b'],
  ['//a///b', '/a/b'],
  ['/a/./b/.', '/a/b'],
  ['/a/../b', '/b'],
  ['/../../etc', '/etc'],
  ['/a/..', '/'],
  ['/a/...', '/a/...'],
  ['/a/..b', '/a/..b'],
  ['/-rf', '/-rf'],
  ['/a b/\tc\nd/"e\'', '/a b/\tc\nd/"e\''],
  ['/100%/?#&', '/100%/?#&'],
  ['/größe/😀', '/größe/😀'],
  [`/${'x'.repeat(255)}`, `/${'x'.repeat(255)}`],
  [`/${'a/'.repeat(2047)}`, `/${'a/'.repeat(2047)}`.slice(0, -1)],
  [`/${'./'.repeat(5000)}a`, '/a'],
])('%j leads to %j', (text, path) => {
  expect(containerPath(text)).toBe(path)
})

test.each([
  ['is empty', ''],
  ['is relative', 'a/b'],
  ['is relative to a home', '~/a'],
  ['has NUL in it', '/a\0b'],
  ['has a name of 256 bytes', `/${'x'.repeat(256)}`],
  ['has a name of 128 letters with 256 bytes', `/a/${'ö'.repeat(128)}/b`],
  ['is longer than the system takes', `/${'a/'.repeat(2048)}`],
  ['has half a letter in it', '/a\ud800'],
])('a path that %s is refused', (_, text) => {
  expect(() => containerPath(text)).toThrow(expect.objectContaining({ code: 'bad_request', message: 'Invalid path' }))
})

test('a name is put to a directory and taken off again', () => {
  expect([pathIn('/', 'a'), pathIn('/a', 'b')]).toEqual(['/a', '/a/b'])
  expect([nameIn('/'), nameIn('/a'), nameIn('/a/b')]).toEqual(['', 'a', 'b'])
})
