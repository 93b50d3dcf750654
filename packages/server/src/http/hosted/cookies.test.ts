import { describe, expect, test } from 'vitest'
import { confineCookie, takeOutOwnCookies } from './cookies.ts'

test.each<[string | undefined, string | undefined, string[]]>([
  [undefined, undefined, []],
  ['a=1; b=2', 'a=1; b=2', []],
  ['svc-hosted=x', undefined, ['x']],
  ['a=1; svc-hosted=x; b=2', 'a=1; b=2', ['x']],
  ['svc-hosted=x;svc-hosted=y;a="1"', 'a="1"', ['x', 'y']],
  ['svc-hostedx=1; xsvc-hosted=2', 'svc-hostedx=1; xsvc-hosted=2', []],
  ['a=svc-hosted=x', 'a=svc-hosted=x', []],
  ['  svc-hosted = x ; a', 'a', ['x']],
  ['; ;', undefined, []],
])('of the cookies %j the application gets %j', (header, rest, own) => {
  expect(takeOutOwnCookies(header)).toEqual({ rest, own })
})

describe('a cookie that an application sets', () => {
  const PREFIX = '/base/hosted/id/9000/'

  test.each([
    ['a=1', `a=1; Path=${PREFIX}`],
    ['a=1; Path=/', `a=1; Path=${PREFIX}`],
    ['a=1; Path=/x', `a=1; Path=${PREFIX}x`],
    ['a=1; path = /x; Domain=example.com; HttpOnly; SameSite=Lax', `a=1; HttpOnly; SameSite=Lax; Path=${PREFIX}x`],
    ['a=1; Path=/; Path=/y', `a=1; Path=${PREFIX}y`],
    ['a=1; Path=relative', `a=1; Path=${PREFIX}`],
    [`a=1; Path=${PREFIX}z`, `a=1; Path=${PREFIX}z`],
    ['a=1; Path=/base/hosted/id/9000', 'a=1; Path=/base/hosted/id/9000'],
    ['a=1; Path=/base/hosted/id/9001/', `a=1; Path=${PREFIX}base/hosted/id/9001/`],
    ['a=1;domain=.example.com', `a=1; Path=${PREFIX}`],
    ['a=1; Domain', `a=1; Path=${PREFIX}`],
    [
      'a=1; Max-Age=5; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
      `a=1; Max-Age=5; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=${PREFIX}`,
    ],
  ])('%j becomes %j', (given, expected) => {
    expect(confineCookie(given, PREFIX)).toBe(expected)
  })

  test.each([
    'svc-hosted=x',
    'svc-hosted = x; Path=/',
    'svc-hosted=; Max-Age=0',
    'svc-hosted',
    '=svc-hosted=x', // no name, and browsers send such a value by itself
    ' = svc-hosted=x',
  ])('%j is dropped', (given) => {
    expect(confineCookie(given, PREFIX)).toBeUndefined()
  })
})
