import { expect, test } from 'vitest'
import { clientKey } from './client-key.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['2001:db8:0:1::6', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
])('%s is the client %s', (address, key) => {
  expect(clientKey(address)).toBe(key)
})
