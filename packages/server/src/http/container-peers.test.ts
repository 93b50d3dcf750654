import { expect, test } from 'vitest'
import { ContainerPeers } from './container-peers.ts'

const known = ['10.88.0.0/16', 'fd00::/64']

test.each([
  ['10.88.3.4', true],
  ['fd00::5', true],
  ['10.89.0.1', false],
  ['127.0.0.1', false],
])('as the engine says, %s is a container: %s', (address, expected) => {
  expect(new ContainerPeers({ configured: () => undefined, known: () => known }).has(address)).toBe(expected)
})

test('what the operator says wins over the engine, and a reload takes effect at once', () => {
  let configured: readonly string[] | undefined = ['192.0.2.0/24']
  const peers = new ContainerPeers({ configured: () => configured, known: () => known })
  expect([peers.has('192.0.2.9'), peers.has('10.88.3.4')]).toEqual([true, false])
  configured = undefined
  expect([peers.has('192.0.2.9'), peers.has('10.88.3.4')]).toEqual([false, true])
})

test('however wide the networks are, this machine itself is no container', () => {
  const peers = new ContainerPeers({ configured: () => ['0.0.0.0/0', '::/0'], known: () => [] })
  expect(['127.0.0.1', '::1', '198.51.100.7'].map((address) => peers.has(address))).toEqual([false, false, true])
})
