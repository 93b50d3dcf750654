import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatStoredHash, parseStoredHash } from './stored-hash.ts'

const salt = Buffer.alloc(16, 1).toString('base64')
const digest = Buffer.alloc(64, 2).toString('base64')

test('a hash reads back as it was written', () => {
  const bytes = (length: number) =>
    fc.uint8Array({ minLength: length, maxLength: length }).map((array) => Buffer.from(array))
  const hashes = fc.record({ iterations: fc.integer({ min: 1, max: 10_000_000 }), salt: bytes(16), digest: bytes(64) })
  fc.assert(
    fc.property(hashes, (hash) => {
      expect(parseStoredHash(formatStoredHash(hash))).toEqual(hash)
    }),
  )
})

test.each([
  ['', 'nothing'],
  ['$$$', 'four empty parts'],
  [`pbkdf2-sha512$1$${salt}`, 'a part is missing'],
  [`pbkdf2-sha512$1$${salt}$${digest}$`, 'there is a part too many'],
  [`pbkdf2-sha512$1$${salt}$${digest}$a$b`, 'there are two parts too many'],
  [`pbkdf2-sha256$1$${salt}$${digest}`, 'the scheme is another'],
  [`PBKDF2-SHA512$1$${salt}$${digest}`, 'the scheme is written otherwise'],
  [` pbkdf2-sha512$1$${salt}$${digest}`, 'a space stands before'],
  [`pbkdf2-sha512$1$${salt}$${digest}\n`, 'a line end stands behind'],
  [`pbkdf2-sha512$0$${salt}$${digest}`, 'no iteration is too few'],
  [`pbkdf2-sha512$10000001$${salt}$${digest}`, 'one iteration is too many'],
  [`pbkdf2-sha512$99999999999999999999$${salt}$${digest}`, 'the count is absurd'],
  [`pbkdf2-sha512$-1$${salt}$${digest}`, 'the count is negative'],
  [`pbkdf2-sha512$1.5$${salt}$${digest}`, 'the count is a fraction'],
  [`pbkdf2-sha512$1e3$${salt}$${digest}`, 'the count has an exponent'],
  [`pbkdf2-sha512$0x10$${salt}$${digest}`, 'the count is hexadecimal'],
  [`pbkdf2-sha512$01$${salt}$${digest}`, 'the count has a leading zero'],
  [`pbkdf2-sha512$$${salt}$${digest}`, 'the count is missing'],
  [`pbkdf2-sha512$1$$${digest}`, 'the salt is missing'],
  [`pbkdf2-sha512$1$${salt.replaceAll('=', '')}$${digest}`, 'the padding is missing'],
  [`pbkdf2-sha512$1$*${salt.slice(1)}$${digest}`, 'the salt is not base64'],
  [`pbkdf2-sha512$1$${salt}$`, 'the digest is missing'],
  [`pbkdf2-sha512$1$${salt}$${Buffer.alloc(63).toString('base64')}`, 'the digest is too short'],
  [`pbkdf2-sha512$1$${salt}$${Buffer.alloc(65).toString('base64')}`, 'the digest is too long'],
  [`pbkdf2-sha512$1$${salt}$${digest.slice(0, 10)} ${digest.slice(10)}`, 'the digest holds a space'],
])('%j is not a stored hash: %s', (text) => {
  expect(parseStoredHash(text)).toBeUndefined()
})

test('ten million iterations are still accepted', () => {
  expect(parseStoredHash(`pbkdf2-sha512$10000000$${salt}$${digest}`)?.iterations).toBe(10_000_000)
})
