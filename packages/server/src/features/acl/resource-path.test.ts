import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ancestorsOf, isInTree, parseResourcePath, type ResourcePath, workspaceIdIn } from './resource-path.ts'

const longest = `/workspaces/${'w'.repeat(244)}`

describe('a text is a resource path', () => {
  test.each([
    '/',
    '/workspaces',
    '/workspaces/c2a1d0aa-6a1c-4f7e-9d55-000000000001/files',
    '/a.b',
    '/...',
    '/.hidden',
    '/Grüße',
    '/a b',
    '/\u{1f600}',
    longest,
  ])('%j', (text) => {
    expect(parseResourcePath(text)).toBe(text)
  })
})

describe('a text is no resource path', () => {
  test.each([
    ['', 'it is empty'],
    ['users', 'it does not start at the root'],
    [' /users', 'it does not start at the root'],
    ['./users', 'it does not start at the root'],
    ['/users/', 'it ends with a slash'],
    ['//', 'a segment is empty'],
    ['//users', 'a segment is empty'],
    ['/workspaces//a', 'a segment is empty'],
    ['/.', 'a segment is a dot'],
    ['/./users', 'a segment is a dot'],
    ['/workspaces/.', 'a segment is a dot'],
    ['/..', 'a segment leads up'],
    ['/workspaces/../acl', 'a segment leads up'],
    ['/workspaces/..', 'a segment leads up'],
    ['/users\\acl', 'it holds a backslash'],
    ['/users\0', 'it holds a control character'],
    ['/users\n', 'it holds a control character'],
    ['/us\u001fers', 'it holds a control character'],
    ['/users\u007f', 'it holds a control character'],
    ['/users\u0085', 'it holds a control character'],
    ['/\ud83d', 'it holds half a character'],
    [`${longest}w`, 'it is longer than 256 characters'],
  ])('%j, because %s', (text) => {
    expect(parseResourcePath(text)).toBeUndefined()
  })
})

test.each<[ResourcePath, ResourcePath[]]>([
  ['/', ['/']],
  ['/users', ['/users', '/']],
  ['/workspaces/a', ['/workspaces/a', '/workspaces', '/']],
  ['/workspaces/a/b/c', ['/workspaces/a/b/c', '/workspaces/a/b', '/workspaces/a', '/workspaces', '/']],
])('the walk from %s passes %j', (path, expected) => {
  expect(ancestorsOf(path)).toEqual(expected)
})

test('a walk passes each beginning of the path once and ends at the root', () => {
  const name = fc.string({ minLength: 1, maxLength: 4 }).filter((text) => parseResourcePath(`/${text}`) !== undefined)
  fc.assert(
    fc.property(
      fc.array(
        name.filter((text) => !text.includes('/')),
        { maxLength: 30 },
      ),
      (names) => {
        const path = parseResourcePath(`/${names.join('/')}`)
        if (path === undefined) throw new Error('a path of good names is refused')
        const expected = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`).toReversed()
        expect(ancestorsOf(path)).toEqual([...expected, '/'])
      },
    ),
  )
})

test.each<[ResourcePath, string | undefined]>([
  ['/', undefined],
  ['/workspaces', undefined],
  ['/workspaces/a', 'a'],
  ['/workspaces/a/files/b', 'a'],
  ['/workspacesx/a', undefined],
  ['/users/workspaces/a', undefined],
])('the workspace in %s is %s', (path, expected) => {
  expect(workspaceIdIn(path)).toBe(expected)
})

test.each<[ResourcePath, boolean]>([
  ['/', true],
  ['/workspaces', true],
  ['/groups', true],
  ['/users', true],
  ['/invitations', true],
  ['/server', true],
  ['/events', true],
  ['/acl', true],
  ['/volumes', true],
  ['/images', true],
  ['/workspaces/a', true],
  ['/workspaces/a/files', true],
  ['/admin', false],
  ['/users/a', false],
  ['/Users', false],
  ['/elsewhere', false],
])('%s is in the tree: %s', (path, expected) => {
  expect(isInTree(path)).toBe(expected)
})
