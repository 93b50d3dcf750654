import { expect, test } from 'vitest'
import { readDomains } from './domains.ts'

test.each([
  [['example.com'], ['example.com']],
  [
    ['.example.com', '*.example.com'],
    ['.example.com', '*.example.com'],
  ],
  [[' Example.COM:443 '], ['example.com:443']],
  [['example.com.', 'example.com'], ['example.com']],
  [['example.com:0443'], ['example.com:443']],
  [
    ['b.example', 'a.example', 'B.example'],
    ['b.example', 'a.example'],
  ],
  [
    ['10.0.0.0/8', '10.0.0.0/8:22', '0.0.0.0/0'],
    ['10.0.0.0/8', '10.0.0.0/8:22', '0.0.0.0/0'],
  ],
  [
    ['192.0.2.7', '192.0.2.7:80'],
    ['192.0.2.7', '192.0.2.7:80'],
  ],
  [['localhost'], ['localhost']],
  [['', '  '], null],
  [[], null],
  [null, null],
])('allowed %j is kept as %j', (given, kept) => {
  expect(readDomains(given, 'allowed_domains')).toEqual(kept)
})

test.each([
  'exa mple.com',
  'http://example.com',
  'example.com/path',
  'example.com:0',
  'example.com:65536',
  'example.com:',
  'example.com:80:81',
  ':443',
  '*',
  '*.',
  '.',
  '*.*.example.com',
  'a..b',
  '-a.example',
  '1.2.3',
  '1.2.3.4.5',
  '256.0.0.1',
  '.1.2.3.4',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '::1',
  'fd00::/8',
  '[::1]:80',
  'a_b.example',
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(127)}example`,
  'bücher.example',
])('allowed %j is refused', (entry) => {
  expect(() => readDomains([entry], 'allowed_domains')).toThrow(`Invalid entries in allowed_domains: '${entry}'`)
})

test('every bad entry is named at once', () => {
  expect(() => readDomains(['good.example', 'b d', '::1', 'x:0'], 'allowed_domains')).toThrow(
    "Invalid entries in allowed_domains: 'b d', '::1', 'x:0'",
  )
})

test('a network cannot be rejected, because names are; an address can', () => {
  expect(() => readDomains(['10.0.0.0/8', 'a.example'], 'rejected_domains')).toThrow(
    "Invalid entries in rejected_domains: '10.0.0.0/8'",
  )
  expect(readDomains(['192.0.2.7', '.a.example:80'], 'rejected_domains')).toEqual(['192.0.2.7', '.a.example:80'])
})
