import fc from 'fast-check'
import { expect, test } from 'vitest'
import { effectiveAddress, inList, isLoopback, plainAddress, proxyList } from './client-address.ts'

const proxies = proxyList(['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8::/32'])
const trusted = (address: string) => inList(proxies, address)

test.each<[string | undefined, string | undefined, string | undefined, string | undefined, string]>([
  // peer, X-Forwarded-For, X-Real-IP, the answer, why
  ['203.0.113.5', undefined, undefined, '203.0.113.5', 'nobody speaks for it'],
  ['203.0.113.5', '198.51.100.1', '198.51.100.2', '203.0.113.5', 'a stranger is not believed'],
  ['127.0.0.1', '198.51.100.1', undefined, '198.51.100.1', 'a trusted proxy is believed'],
  ['127.0.0.1', '6.6.6.6, 198.51.100.1', undefined, '198.51.100.1', 'what the client itself wrote stands on the left'],
  ['127.0.0.1', '198.51.100.1, 10.1.2.3', undefined, '198.51.100.1', 'a chain of trusted proxies is walked'],
  ['127.0.0.1', '10.9.9.9, 10.1.2.3', undefined, '10.9.9.9', 'when all hops are trusted the farthest is the client'],
  ['127.0.0.1', 'nonsense, 10.1.2.3', undefined, '10.1.2.3', 'a hop that is no address ends the walk'],
  ['127.0.0.1', 'nonsense', '198.51.100.7', '127.0.0.1', 'X-Real-IP does not repair a broken list'],
  ['127.0.0.1', undefined, '198.51.100.7', '198.51.100.7', 'X-Real-IP counts when there is no list'],
  ['127.0.0.1', undefined, 'nonsense', '127.0.0.1', 'X-Real-IP must be an address'],
  ['::ffff:127.0.0.1', '198.51.100.1', undefined, '198.51.100.1', 'IPv4 inside IPv6 is the same proxy'],
  ['::1', '2001:DB9::7', undefined, '2001:db9::7', 'addresses have one spelling'],
  ['127.0.0.1', '198.51.100.1:4711', undefined, '198.51.100.1', 'a port is dropped'],
  ['127.0.0.1', '[2001:db9::7]:4711', undefined, '2001:db9::7', 'brackets are dropped'],
  [undefined, undefined, undefined, undefined, 'the private socket has no address'],
  [undefined, '198.51.100.1', undefined, '198.51.100.1', 'the private socket counts as a trusted proxy'],
])('peer %s, forwarded %s, real %s: %s, because %s', (peer, forwarded, real, expected) => {
  const headers = { 'x-forwarded-for': forwarded, 'x-real-ip': real }
  expect(effectiveAddress(peer, headers, trusted)).toBe(expected)
})

test('whatever a client forges, the rightmost untrusted hop decides', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.ipV4().filter((address) => !trusted(address)),
      (forged, client) => {
        const headers = { 'x-forwarded-for': `${forged}, ${client}` }
        expect(effectiveAddress('127.0.0.1', headers, trusted)).toBe(client)
      },
    ),
  )
})

test('any text is an address or none, and the spelling is stable', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
      const address = plainAddress(text)
      if (address !== undefined) expect(plainAddress(address)).toBe(address)
    }),
  )
})

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['128.0.0.1', false],
  ['2001:db8::1', false],
])('%s is loopback: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected)
})
