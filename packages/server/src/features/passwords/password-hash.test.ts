import { pbkdf2Sync } from 'node:crypto'
import { availableParallelism } from 'node:os'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Derive, PasswordHasher } from './password-hash.ts'
import { formatStoredHash } from './stored-hash.ts'

const atOnce = Math.max(1, Math.min(3, availableParallelism() - 1))
const CLIENT = '192.0.2.7'
const fast = new PasswordHasher({ iterations: 2 })
/** Of at most 72 bytes: no character takes more than four. */
const passwords = fc.string({ unit: 'binary', maxLength: 18 })

test('without a wish for another count a hash takes 600,000 iterations, 16 bytes of salt and 64 of digest', async () => {
  const hasher = new PasswordHasher()
  const stored = await hasher.hash('correct horse', CLIENT)
  const [scheme, iterations, salt = '', digest = ''] = stored.split('$')
  expect([scheme, iterations]).toEqual(['pbkdf2-sha512', '600000'])
  expect(Buffer.from(salt, 'base64')).toHaveLength(16)
  expect(Buffer.from(digest, 'base64')).toHaveLength(64)
  expect(await hasher.verify('correct horse', stored, CLIENT)).toBe(true)
})

/** The inputs of RFC 6070 with the published answers for HMAC-SHA512. */
test.each([
  {
    password: 'password',
    salt: 'salt',
    iterations: 1,
    digest:
      '867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce',
  },
  {
    password: 'passwordPASSWORDpassword',
    salt: 'saltSALTsaltSALTsaltSALTsaltSALTsalt',
    iterations: 4096,
    digest:
      '8c0511f4c6e597c6ac6315d8f0362e225f3c501495ba23b868c005174dc4ee71115b59f9e60cd9532fa33e0f75aefe30225c583a186cd82bd4daea9724a3d3b8',
  },
])(
  '$password matches the known answer after $iterations iterations',
  async ({ password, salt, iterations, digest }) => {
    const stored = formatStoredHash({ iterations, salt: Buffer.from(salt), digest: Buffer.from(digest, 'hex') })
    expect(await fast.verify(password, stored, CLIENT)).toBe(true)
    expect(await fast.verify(`${password}!`, stored, CLIENT)).toBe(false)
  },
)

test('a password matches its own hash', async () => {
  await fc.assert(
    fc.asyncProperty(passwords, async (password) => {
      expect(await fast.verify(password, await fast.hash(password, CLIENT), CLIENT)).toBe(true)
    }),
  )
})

test('a password does not match the hash of another', async () => {
  await fc.assert(
    fc.asyncProperty(passwords, passwords, async (password, other) => {
      expect(await fast.verify(other, await fast.hash(password, CLIENT), CLIENT)).toBe(other === password)
    }),
  )
})

test('the same password is never stored twice with the same text', async () => {
  expect(await fast.hash('correct horse', CLIENT)).not.toBe(await fast.hash('correct horse', CLIENT))
})

test('a hash made with another count still verifies, so the count may be raised', async () => {
  const before = await new PasswordHasher({ iterations: 3 }).hash('correct horse', CLIENT)
  expect(await fast.verify('correct horse', before, CLIENT)).toBe(true)
})

test('the same letters composed otherwise are another password', async () => {
  expect(await fast.verify('e\u0301clair', await fast.hash('\u00e9clair', CLIENT), CLIENT)).toBe(false)
})

test('72 bytes are hashed whole; one more is refused, also when it is an emoji that crosses the border', async () => {
  const longest = `${'😀'.repeat(17)}abcd`
  const stored = await fast.hash(longest, CLIENT)
  expect(await fast.verify(longest, stored, CLIENT)).toBe(true)
  expect(await fast.verify(`${'😀'.repeat(17)}abce`, stored, CLIENT)).toBe(false)
  const refusal = { code: 'password_rejected', message: 'Password must not exceed 72 bytes' }
  await expect(fast.hash(`${longest}e`, CLIENT)).rejects.toMatchObject(refusal)
  await expect(fast.hash(`${'😀'.repeat(17)}abc😀`, CLIENT)).rejects.toMatchObject(refusal)
})

test.each([0, -1, 1.5, Number.NaN, 10_000_001])('a hasher of %d iterations is not made', (iterations) => {
  expect(() => new PasswordHasher({ iterations })).toThrow(RangeError)
})

/** A hasher that notes each run of the slow function. */
function countingHasher(iterations: number) {
  const runs: { password: string; salt: string; iterations: number }[] = []
  const derive: Derive = async (password, salt, count) => {
    runs.push({ password, salt: salt.toString('base64'), iterations: count })
    return pbkdf2Sync(password, salt, count, 64, 'sha512')
  }
  return { hasher: new PasswordHasher({ iterations, derive }), runs }
}

const parts = (await new PasswordHasher({ iterations: 7 }).hash('correct horse', CLIENT)).split('$')
const stored = parts.join('$')
const [, , salt, digest] = parts
const forged = pbkdf2Sync('x'.repeat(73), Buffer.alloc(16), 7, 64, 'sha512')

test.each<[string, string, string | null, boolean]>([
  ['the right password', 'correct horse', stored, true],
  ['a wrong password', 'battery staple', stored, false],
  ['an empty password', '', stored, false],
  ['an account that is unknown or has no password', 'correct horse', null, false],
  ['an empty password for no account', '', null, false],
  ['a stored text that is no hash', 'correct horse', 'damaged', false],
  ['an empty stored text', '', '', false],
  ['a stored count of 0', 'correct horse', `pbkdf2-sha512$0$${salt}$${digest}`, false],
  ['a stored count beyond ten million', 'correct horse', `pbkdf2-sha512$10000001$${salt}$${digest}`, false],
  ['a password of 73 bytes', 'x'.repeat(73), stored, false],
  ['60 KB of password', 'x'.repeat(60_000), stored, false],
  ['60 KB of password for no account', 'x'.repeat(60_000), null, false],
  [
    'a password of 73 bytes whose hash would match',
    'x'.repeat(73),
    formatStoredHash({ iterations: 7, salt: Buffer.alloc(16), digest: forged }),
    false,
  ],
  [
    'a password of 73 bytes for the hash of nothing',
    'x'.repeat(73),
    await new PasswordHasher({ iterations: 7 }).hash('', CLIENT),
    false,
  ],
])('%s costs exactly one full hash', async (_, password, text, expected) => {
  const { hasher, runs } = countingHasher(7)
  expect(await hasher.verify(password, text, CLIENT)).toBe(expected)
  expect(runs).toHaveLength(1)
  expect(runs[0]?.iterations).toBe(7)
  expect(Buffer.byteLength(runs[0]?.password ?? '')).toBeLessThanOrEqual(72)
})

test('the hash for unknown accounts is made of random bytes, once per process, with the present count', async () => {
  const { hasher, runs } = countingHasher(5)
  const other = countingHasher(9)
  await hasher.verify('a', null, CLIENT)
  await hasher.verify('b', null, CLIENT)
  await other.hasher.verify('a', null, CLIENT)
  expect([...runs, ...other.runs].map((run) => run.iterations)).toEqual([5, 5, 9])
  expect(runs[1]?.salt).toBe(runs[0]?.salt)
  expect(other.runs[0]?.salt).not.toBe(runs[0]?.salt)
  expect(Buffer.from(runs[0]?.salt ?? '', 'base64')).toHaveLength(16)
})

/** A hasher whose slow function ends when the test says so; `running` holds the passwords in work, oldest first. */
function heldHasher() {
  const running: string[] = []
  const started: string[] = []
  const ends: PromiseWithResolvers<Buffer>[] = []
  const derive: Derive = (password) => {
    const end = Promise.withResolvers<Buffer>()
    running.push(password)
    started.push(password)
    ends.push(end)
    return end.promise
  }
  const endOldest = (settle: (end: PromiseWithResolvers<Buffer>) => void) => {
    running.shift()
    const end = ends.shift()
    if (end) settle(end)
  }
  return {
    hasher: new PasswordHasher({ iterations: 1, derive }),
    running,
    started,
    finishOldest: () => endOldest((end) => end.resolve(Buffer.alloc(64))),
    failOldest: () => endOldest((end) => end.reject(new Error('out of memory'))),
  }
}

/** Lets everything that is already decided happen. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const names = (count: number) => Array.from({ length: count }, (_, n) => `password ${n}`)

const refusal = {
  name: 'AppError',
  code: 'unavailable',
  message: 'Too many people are signing in at the moment; try again in a few seconds',
  retryAfterSeconds: 5,
}

test.each([
  ['an IPv4 address', ['192.0.2.7']],
  ['the IPv6 addresses of one household', ['2001:db8:1:2::a', '2001:db8:1:2:ffff::b']],
  ['those whose address is not known', [undefined]],
])('of %s only 50 wait in line, in their order, and the next is told to come again', async (_, addresses) => {
  const { hasher, running, started, finishOldest } = heldHasher()
  const expected = names(atOnce + 50)
  const answers = expected.map((password, n) => hasher.verify(password, null, addresses[n % addresses.length]))
  await settled()
  expect(running).toEqual(expected.slice(0, atOnce))
  await expect(hasher.verify('one too many', null, addresses[0])).rejects.toMatchObject(refusal)
  await expect(hasher.hash('one too many', addresses[0])).rejects.toMatchObject(refusal)
  const others = [hasher.verify('neighbour', null, '2001:db8:1:3::a'), hasher.verify('somebody', null, '192.0.2.8')]

  while (running.length > 0) {
    expect(running.length).toBeLessThanOrEqual(atOnce)
    finishOldest()
    await settled()
  }
  // One of those who waited before comes first, then each of the others, and only then the rest.
  const [next = '', ...rest] = expected.slice(atOnce)
  expect(started).toEqual([...expected.slice(0, atOnce), next, 'neighbour', 'somebody', ...rest])
  expect(await Promise.all([...answers, ...others])).toEqual([...answers, ...others].map(() => false))
})

test('500 wait in the whole line, however many clients there are', async () => {
  const { hasher, running, finishOldest } = heldHasher()
  const answers = names(atOnce + 500).map((password, n) => hasher.verify(password, null, `10.0.${n >> 8}.${n & 255}`))
  await expect(hasher.verify('one too many', null, '198.51.100.1')).rejects.toMatchObject(refusal)
  await settled()
  while (running.length > 0) {
    finishOldest()
    await settled()
  }
  expect(await Promise.all(answers)).toHaveLength(atOnce + 500)
})

test('a hash that fails fails for its caller alone and leaves its place to the next', async () => {
  const { hasher, running, failOldest, finishOldest } = heldHasher()
  const answers = names(atOnce + 2).map((password) => hasher.verify(password, null, CLIENT))
  const outcomes = Promise.allSettled(answers)
  await settled()
  failOldest()
  await settled()
  expect(running).toHaveLength(atOnce)
  while (running.length > 0) {
    finishOldest()
    await settled()
  }
  expect((await outcomes).map((outcome) => outcome.status)).toEqual([
    'rejected',
    ...names(atOnce + 1).map(() => 'fulfilled'),
  ])
})

test('the event loop keeps turning while hashes run', async () => {
  const hasher = new PasswordHasher({ iterations: 50_000 })
  const hashes = Promise.all(names(4).map((password) => hasher.hash(password, CLIENT)))
  let working = true
  void hashes.finally(() => {
    working = false
  })
  let turns = 0
  while (working) {
    await settled()
    turns++
  }
  await hashes
  // Thousands on an idle machine; one if the loop had to wait for the hashes.
  expect(turns).toBeGreaterThan(20)
})
