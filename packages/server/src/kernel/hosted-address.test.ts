import { expect, test } from 'vitest'
import { appsAuthority, hostedCookie, hostedPath } from './hosted-address.ts'

test.each<[string, string | undefined, string | undefined]>([
  ['http://localhost:8080', undefined, 'id.localhost:8080'],
  ['http://127.0.0.1:8080/base', undefined, 'id.localhost:8080'],
  ['http://[::1]', undefined, 'id.localhost'],
  ['https://svc.example.com', undefined, undefined],
  ['https://10.0.0.1', undefined, undefined],
  ['https://svc.example.com', '*.apps.example.com', 'id.apps.example.com'],
  ['https://svc.example.com', 'apps.example.com:8443', 'apps.example.com:8443'],
  ['https://svc.example.com', 'svc.example.com', undefined],
])('from %s with %s applications are at %s', (externalUrl, configured, expected) => {
  expect(appsAuthority('id', externalUrl, configured)).toBe(expected)
})

test.each([
  ['http://localhost:8080', '/hosted/id/9000/'],
  ['https://example.com/a/b', '/a/b/hosted/id/9000/'],
])('below %s the path is %s', (externalUrl, expected) => {
  expect(hostedPath(externalUrl, 'id', 9000)).toBe(expected)
})

test('the cookie is for one workspace, for no script, and for no other site', () => {
  const cookie = { value: 'x', path: '/hosted/id/', seconds: 900 }
  const text = 'svc-hosted=x; Path=/hosted/id/; Max-Age=900; HttpOnly; SameSite=Lax'
  expect(hostedCookie({ ...cookie, secure: false })).toBe(text)
  expect(hostedCookie({ ...cookie, secure: true })).toBe(`${text}; Secure`)
})
