import { expect, test } from 'vitest'
import { takeOutEntryCode, withEntryCode } from './entry-code.ts'

test.each<[string, string, string | undefined]>([
  ['/', '/', undefined],
  ['/?a=1', '/?a=1', undefined],
  ['/x?svc-hosted-entry=c', '/x', 'c'],
  ['/x?a=1&svc-hosted-entry=c&b=2', '/x?a=1&b=2', 'c'],
  ['/svc-hosted-entry=c', '/svc-hosted-entry=c', undefined],
  ['/?asvc-hosted-entry=c', '/?asvc-hosted-entry=c', undefined],
  ['/?svc-hosted-entry=c&svc-hosted-entry=d', '/', 'c'],
])('%s is %s and the code %s', (given, path, code) => {
  expect(takeOutEntryCode(given)).toEqual({ path, code })
})

test('a code is put behind whatever is asked', () => {
  expect(withEntryCode('/x', 'c')).toBe('/x?svc-hosted-entry=c')
  expect(withEntryCode('/x?a', 'c')).toBe('/x?a&svc-hosted-entry=c')
  expect(withEntryCode('/x', undefined)).toBe('/x')
})
