import { expect, test } from 'vitest'
import { domainOf, isPlainAddress, parseMailbox, senderOf } from './address.ts'

test.each([
  ['ada@example.org', true],
  ["o'brien+tag@sub.example.org", true],
  ['jörg@müller.example', true],
  ['root@localhost', true],
  ['Ada <ada@example.org>', false],
  ['<ada@example.org>', false],
  ['ada@example.org,eve@example.net', false],
  ['ada@example.org;eve@example.net', false],
  ['ada@example.org\r\nBcc: eve@example.net', false],
  ['ada@@example.org', false],
  ['"ada eve"@example.org', false],
  ['ada@[127.0.0.1]', false],
  ['ada', false],
  ['', false],
])('%j as a plain address: %s', (text, plain) => {
  expect(isPlainAddress(text)).toBe(plain)
})

test('only the domain of a plain address is told', () => {
  expect(domainOf('ada@example.org')).toBe('example.org')
  expect(domainOf('ada@example.org\nsecret')).toBeUndefined()
})

test.each([
  ['ada@example.org', { name: '', address: 'ada@example.org' }],
  ['<ada@example.org>', { name: '', address: 'ada@example.org' }],
  ['Ada Lovelace <ada@example.org>', { name: 'Ada Lovelace', address: 'ada@example.org' }],
  ['"Lovelace, Ada" <ada@example.org>', { name: 'Lovelace, Ada', address: 'ada@example.org' }],
  ['Ada', undefined],
  ['Ada <>', undefined],
  ['ada@example.org, eve@example.net', undefined],
  ['Ada <ada@example.org>, Eve <eve@example.net>', undefined],
])('the mailbox %j is read as %j', (text, mailbox) => {
  expect(parseMailbox(text)).toEqual(mailbox)
})

const nothing = { smtpFrom: undefined, smtpUser: undefined, hostingHostname: undefined }

test.each([
  [{ smtpFrom: 'Svc <a@example.com>', smtpUser: 'b@example.com' }, 'Svc <a@example.com>'],
  [{ smtpUser: 'b@example.com', hostingHostname: 'svc.example.com' }, 'b@example.com'],
  [{ smtpUser: 'apikey', hostingHostname: 'svc.example.com:8443' }, 'noreply@svc.example.com'],
  [{ hostingHostname: 'svc.example.com' }, 'noreply@svc.example.com'],
  [{ hostingHostname: '192.0.2.1:8443' }, 'noreply@localhost'],
  [{ hostingHostname: '[2001:db8::1]:8443' }, 'noreply@localhost'],
  [{}, 'noreply@localhost'],
])('with %j the sender is %s', (settings, sender) => {
  expect(senderOf({ ...nothing, ...settings })).toBe(sender)
})
