import { expect, test } from 'vitest'
import { mayUseCookie } from './cookie-use.ts'

const HOST = 'app.example.com'
const OWN = 'https://app.example.com'
const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

test.each<[string, Record<string, string>, boolean, string]>([
  ['GET', {}, true, 'no browser of today sent it'],
  [
    'POST',
    { origin: OWN, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' },
    true,
    'a page of the application',
  ],
  ['GET', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }, true, 'its script or picture'],
  ['GET', { 'sec-fetch-site': 'none', ...navigation }, true, 'typed into the address bar'],
  ['GET', { 'sec-fetch-site': 'cross-site', ...navigation }, true, 'a link elsewhere'],
  [
    'POST',
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', ...navigation },
    false,
    'a form elsewhere',
  ],
  ['GET', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, false, 'another workspace’s page'],
  [
    'GET',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    false,
    'a frame',
  ],
  ['GET', { origin: 'https://other.example.com' }, false, 'a socket of another workspace’s page'],
  ['GET', { origin: OWN }, true, 'a socket of the application'],
  ['GET', { origin: 'null' }, false, 'a page that is confined'],
  ['POST', { origin: 'https://app.example.com.evil.example' }, false, 'a name that only begins like it'],
])('%s with %j: %s (%s)', (method, headers, expected) => {
  expect(mayUseCookie(method, headers, HOST)).toBe(expected)
})

test.each([
  ['http://app:80', 'app', true],
  ['https://app', 'app:443', true],
  ['http://app:8080', 'app:8080', true],
  ['http://app:8080', 'app:8081', false],
  ['http://[::1]:8080', '[::1]:8080', true],
])('the origin %s is of the host %s: %s', (origin, host, expected) => {
  expect(mayUseCookie('POST', { origin }, host)).toBe(expected)
})
