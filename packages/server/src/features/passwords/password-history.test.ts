import { pbkdf2Sync } from 'node:crypto'
import { expect, test } from 'vitest'
import { PasswordHasher } from './password-hash.ts'
import { findReuse, type KnownPasswords } from './password-history.ts'
import type { PasswordPolicy } from './password-policy.ts'

const policyOf = (historyCount: number): PasswordPolicy => ({
  minLength: 0,
  requireUpper: 0,
  requireLower: 0,
  requireDigit: 0,
  requireSpecial: 0,
  historyCount,
  minChanged: 0,
  minAgeHours: 0,
  maxAgeDays: 0,
})

const EQUALS_CURRENT = 'Password must differ from the current one'
const USED_RECENTLY = 'Password was used recently; choose another one'

const plain = new PasswordHasher({ iterations: 1 })
const currentHash = await plain.hash('current', undefined)
const retiredHashes = await Promise.all(
  ['newest', 'middle', 'oldest'].map((password) => plain.hash(password, undefined)),
)
const known: KnownPasswords = { currentHash, retiredHashes }
const typed: KnownPasswords = { ...known, currentPassword: 'current' }
const passwordless: KnownPasswords = { currentHash: null, retiredHashes }
const damaged: KnownPasswords = { currentHash: 'damaged', retiredHashes: ['damaged', ...retiredHashes] }

test.each<[string, number, string, KnownPasswords, string | undefined, number]>([
  ['the current one', 3, 'current', known, EQUALS_CURRENT, 1],
  ['the current one, as typed', 3, 'current', typed, EQUALS_CURRENT, 0],
  ['the newest retired one', 3, 'newest', known, USED_RECENTLY, 2],
  ['the oldest retired one', 3, 'oldest', known, USED_RECENTLY, 4],
  ['the oldest, with the current one typed', 3, 'oldest', typed, USED_RECENTLY, 3],
  ['a new one', 3, 'fresh', known, undefined, 4],
  ['a new one, with the current one typed', 3, 'fresh', typed, undefined, 3],
  ['one beyond the count', 2, 'oldest', known, undefined, 3],
  ['the last within the count', 2, 'middle', known, USED_RECENTLY, 3],
  ['the current one when one is remembered', 1, 'current', known, EQUALS_CURRENT, 1],
  ['a new one when more are asked for than are known', 24, 'fresh', known, undefined, 4],
  ['the current one when nothing is remembered', 0, 'current', known, undefined, 0],
  ['the typed current one when nothing is remembered', 0, 'current', typed, undefined, 0],
  ['a retired one when nothing is remembered', 0, 'newest', known, undefined, 0],
  ['a first password, used before', 3, 'newest', passwordless, USED_RECENTLY, 1],
  ['a first password', 3, 'fresh', passwordless, undefined, 3],
  ['one too long to be a password', 3, 'x'.repeat(73), known, undefined, 0],
  ['one after damaged rows', 3, 'newest', damaged, USED_RECENTLY, 3],
])('%s, with %d remembered', async (_, historyCount, newPassword, passwords, expected, hashes) => {
  let runs = 0
  const counting = new PasswordHasher({
    iterations: 1,
    async derive(password, salt, iterations) {
      runs++
      return pbkdf2Sync(password, salt, iterations, 64, 'sha512')
    },
  })
  expect(await findReuse(counting, newPassword, passwords, policyOf(historyCount), undefined)).toBe(expected)
  expect(runs).toBe(hashes)
})

test('whoever changes a password never has two hashes in the line', async () => {
  let running = 0
  let most = 0
  const hasher = new PasswordHasher({
    iterations: 1,
    async derive() {
      running++
      most = Math.max(most, running)
      await new Promise<void>((resolve) => setImmediate(resolve))
      running--
      return Buffer.alloc(64)
    },
  })
  await findReuse(hasher, 'fresh', known, policyOf(24), undefined)
  expect(most).toBe(1)
})
