import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isLoopback,
  parseAuthority,
  parseBoolean,
  parseCidr,
  parseEmail,
  parseFloatAboveZero,
  parseHost,
  parseInteger,
  parseLine,
  parseOrigin,
  parsePath,
  parseSize,
  parseUrl,
  sizeText,
} from './formats.ts'

describe('integers', () => {
  test('every whole number is read alike from YAML and from text', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(parseInteger(BigInt(value), {})).toBe(value)
        expect(parseInteger(` ${value} `, {})).toBe(value)
      }),
    )
  })

  test('a value is taken exactly when it lies within the bounds', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.integer(), (value, a, b) => {
        const [min, max] = [Math.min(a, b), Math.max(a, b)]
        const parse = () => parseInteger(String(value), { min, max })
        if (value >= min && value <= max) expect(parse()).toBe(value)
        else expect(parse).toThrow(`from ${min} to ${max}`)
      }),
    )
  })

  test.each([
    1.5,
    8080,
    '1.5',
    '8080.0',
    true,
    false,
    'abc',
    '1e3',
    '0x10',
    '9'.repeat(20),
    10n ** 20n,
    Number.NaN,
    [],
    {},
  ])('%o is not a whole number', (raw) => expect(() => parseInteger(raw, {})).toThrow('must be a whole number'))
})

describe('floats', () => {
  test.each([
    ['2', 2],
    ['.5', 0.5],
    [' 1.25 ', 1.25],
    ['1e-3', 0.001],
    [15.5, 15.5],
    [15n, 15],
  ])('%o is %d', (raw, value) => expect(parseFloatAboveZero(raw, undefined)).toBe(value))

  test.each(['0', '-1', 0, 'NaN', 'Infinity', Number.POSITIVE_INFINITY, Number.NaN, true, '0x10', ''])(
    '%j is refused',
    (raw) => expect(() => parseFloatAboveZero(raw, undefined)).toThrow('must be a number above 0'),
  )

  test('a percentage above 100 is refused', () => {
    expect(() => parseFloatAboveZero('100.1', 100)).toThrow('at most 100')
  })
})

describe('booleans', () => {
  test.each(['1', 'true', 'YES', ' on ', true, 1n])('%o is true', (raw) => expect(parseBoolean(raw)).toBe(true))
  test.each(['0', 'False', 'no', 'OFF', false, 0n])('%o is false', (raw) => expect(parseBoolean(raw)).toBe(false))
  test.each(['2', 'y', 'enabled', 2n, 1.5, [], null])('%o is neither', (raw) =>
    expect(() => parseBoolean(raw)).toThrow(),
  )
})

describe('sizes', () => {
  test.each([
    ['8g', 8 * 1024 ** 3],
    ['1.5G', 1.5 * 1024 ** 3],
    ['512mb', 512 * 1024 ** 2],
    ['100', 100],
    ['100b', 100],
    [4096n, 4096],
    [4096.5, 4096],
    ['1p', 1024 ** 5],
  ])('%o is %d bytes', (raw, bytes) => expect(parseSize(raw)).toBe(bytes))

  test.each(['8gib', '8 g', '-1g', '0', '0.4', 'g', '1e3', '', '9000p', 'infinity'])('%j is refused', (raw) =>
    expect(() => parseSize(raw)).toThrow('must be a size above 0'),
  )

  test('what is printed for a size is read back as the same size', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (bytes) => parseSize(sizeText(bytes)) === bytes))
  })
})

describe('hosts', () => {
  test.each([
    [' 127.0.0.1 ', '127.0.0.1'],
    ['[::1]', '::1'],
    ['Example.COM.', 'example.com'],
    ['localhost', 'localhost'],
  ])('%j is kept as %j', (text, host) => expect(parseHost(text)).toBe(host))

  test.each(['127.0.0.1:80', '10.0.0.0/8', 'a\nb', 'a b', '', '.', '1.2.3', '256.1.1.1', '-a', `${'a'.repeat(64)}.b`])(
    '%j is not a bare host',
    (text) => expect(() => parseHost(text)).toThrow('must be one IP address or host name'),
  )

  test.each([
    ['example.com:8443', 'example.com:8443'],
    ['[::1]:80', '[::1]:80'],
    ['EXAMPLE.com', 'example.com'],
  ])('a public address %j is kept as %j', (text, kept) => expect(parseAuthority(text)).toBe(kept))

  test.each(['a:0', 'a:70000', 'a:b', '::1:80:', 'http://a'])('%j is not a public address', (text) =>
    expect(() => parseAuthority(text)).toThrow('optional :port'),
  )

  test.each(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', 'localhost'])('%s is loopback', (host) =>
    expect(isLoopback(host)).toBe(true),
  )

  test.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'localhost.example.com', 'example.com'])(
    '%s is not loopback',
    (host) => expect(isLoopback(host)).toBe(false),
  )
})

describe('URLs', () => {
  test.each(['javascript:alert(1)', 'ftp://a', '//a', 'a', 'https://', "https://a;script-src 'x'", 'data:,x'])(
    '%j is refused',
    (text) => expect(() => parseUrl(text)).toThrow('must be a full URL'),
  )

  test('a URL with a password is refused', () => {
    expect(() => parseUrl('https://user:pass@example.com')).toThrow('must not hold a user name or password')
  })

  test('plain http to another machine is refused where it must be secure', () => {
    expect(() => parseUrl('http://example.com', { secureUnlessLoopback: true })).toThrow('must use https')
    expect(parseUrl('http://[::1]:80/x', { secureUnlessLoopback: true })).toBe('http://[::1]:80/x')
  })

  test('an origin keeps scheme, host and port only', () => {
    expect(parseOrigin('wss://example.com:9443/path?q#f', ['wss'])).toBe('wss://example.com:9443')
  })
})

describe('addresses and text', () => {
  test.each(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0'])('%s is a network', (text) =>
    expect(parseCidr(text)).toBe(text),
  )

  test.each(['10.0.0.0/33', 'fd00::/129', '10.0.0/8', 'example.com', '10.0.0.0/', '10.0.0.0/8/8', 'fe80::1%eth0'])(
    '%s is not a network',
    (text) => expect(() => parseCidr(text)).toThrow('IP address or a network'),
  )

  test.each(['a@b', 'a b@example.com', 'Ann <a@example.com>', 'a@@example.com', 'a@example.com,b@example.com', ''])(
    '%j is not one plain email address',
    (text) => expect(() => parseEmail(text)).toThrow('must be one email address'),
  )

  test.each(['two\nlines', 'bell\u0007', 'right\u202eto left', 'x'.repeat(121)])(
    '%j is not one printable line',
    (text) => expect(() => parseLine(text, 120)).toThrow('one line of printable characters'),
  )

  test('a path is absolute and ~ is the home directory', () => {
    expect(parsePath('~/logs/../x', '/home/ann')).toBe('/home/ann/x')
    expect(parsePath('~', '/home/$&')).toBe('/home/$&')
  })
})
