import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import {
  findTooLittleChange,
  findTooYoung,
  findWeakness,
  isExpired,
  type PasswordPolicy,
  requireAcceptable,
} from './password-policy.ts'

const lenient: PasswordPolicy = {
  minLength: 0,
  requireUpper: 0,
  requireLower: 0,
  requireDigit: 0,
  requireSpecial: 0,
  historyCount: 0,
  minChanged: 0,
  minAgeHours: 0,
  maxAgeDays: 0,
}
const family = '👩‍👩‍👧' // five code points in 18 bytes, seen as one picture
const tooLong = 'Password must not exceed 72 bytes'

test.each<[string, number, string | undefined, string]>([
  ['1234567', 8, 'Password must be at least 8 characters', 'it has seven characters'],
  ['12345678', 8, undefined, 'it has eight characters'],
  ['', 1, 'Password must be at least 1 character', 'it is empty'],
  ['', 0, 'Password must be at least 1 character', 'an empty one is none'],
  ['a', 0, undefined, 'no length is asked for'],
  ['😀😀😀😀', 8, 'Password must be at least 8 characters', 'an emoji is one character, though two in UTF-16'],
  ['😀'.repeat(8), 8, undefined, 'these are eight characters'],
  [family, 5, undefined, 'a family is five code points'],
  [family, 6, 'Password must be at least 6 characters', 'a family is five code points'],
  ['e\u0301'.repeat(4), 8, undefined, 'an accent of its own counts'],
  ['\u00e9'.repeat(4), 8, 'Password must be at least 8 characters', 'a composed letter is one character'],
  ['a'.repeat(72), 8, undefined, 'it has 72 bytes'],
  ['a'.repeat(73), 8, tooLong, 'it has 73 bytes'],
  ['\u00e9'.repeat(36), 8, undefined, 'it has 72 bytes in 36 characters'],
  [`${'\u00e9'.repeat(36)}a`, 8, tooLong, 'it has 73 bytes in 37 characters'],
  ['😀'.repeat(18), 8, undefined, 'it has 72 bytes in 18 characters'],
  ['😀'.repeat(19), 8, tooLong, 'it has 76 bytes in 19 characters'],
  ['😀'.repeat(19), 20, tooLong, 'bytes are looked at before characters'],
])('of %j with at least %d characters the rule says %j, because %s', (password, minLength, expected) => {
  expect(findWeakness(password, { ...lenient, minLength })).toBe(expected)
})

const oneOfEach = { requireUpper: 1, requireLower: 1, requireDigit: 1, requireSpecial: 1 }

test.each<[string, Partial<PasswordPolicy>, string | undefined]>([
  ['aA1!', oneOfEach, undefined],
  ['a1!', { requireUpper: 1 }, 'Password must contain at least 1 uppercase letter'],
  ['aA', { requireUpper: 1, requireDigit: 2 }, 'Password must contain at least 2 digits'],
  ['a1', { requireUpper: 1, requireDigit: 2 }, 'Password must contain at least 1 uppercase letter, at least 2 digits'],
  [
    'a',
    { ...oneOfEach, requireLower: 2 },
    'Password must contain at least 1 uppercase letter, at least 2 lowercase letters, at least 1 digit, at least 1 special character',
  ],
  [
    'aA1!',
    { requireUpper: 2, requireLower: 3, requireDigit: 4, requireSpecial: 5 },
    'Password must contain at least 2 uppercase letters, at least 3 lowercase letters, at least 4 digits, at least 5 special characters',
  ],
  ['ÄÖÜ', { requireUpper: 1 }, 'Password must contain at least 1 uppercase letter'],
  ['äöü', { requireLower: 1 }, 'Password must contain at least 1 lowercase letter'],
  ['٣४３', { requireDigit: 1 }, 'Password must contain at least 1 digit'],
  ['Äö٣', { requireSpecial: 3 }, undefined],
  [' \t\n', { requireSpecial: 3 }, undefined],
  ['@[`{/:', { requireSpecial: 6 }, undefined],
  ['AZaz09', { requireUpper: 2, requireLower: 2, requireDigit: 2 }, undefined],
  ['AZaz09', { requireSpecial: 1 }, 'Password must contain at least 1 special character'],
  ['😀', { requireSpecial: 1 }, undefined],
  ['😀', { requireSpecial: 2 }, 'Password must contain at least 2 special characters'],
  ['e\u0301', { requireLower: 1, requireSpecial: 1 }, undefined],
  ['e\u0301', { requireSpecial: 2 }, 'Password must contain at least 2 special characters'],
  ['short', { minLength: 8, requireDigit: 1 }, 'Password must be at least 8 characters'],
])('of %j under %j the rule says %j', (password, rules, expected) => {
  expect(findWeakness(password, { ...lenient, ...rules })).toBe(expected)
})

test('each character counts for exactly one class, wherever it stands', () => {
  const several = (...characters: string[]) => fc.array(fc.constantFrom(...characters), { maxLength: 4 })
  const groups = fc.record({
    requireUpper: several(...'ABMYZ'),
    requireLower: several(...'abmyz'),
    requireDigit: several(...'0123456789'),
    requireSpecial: several(...' !/:@[`{~', 'Ä', 'ß', '٣', '\u0301', '😀'),
  })
  const shuffled = groups
    .filter((group) => Object.values(group).flat().length > 0)
    .chain((group) => {
      const all = Object.values(group).flat()
      return fc.record({
        group: fc.constant(group),
        password: fc.shuffledSubarray(all, { minLength: all.length }).map((characters) => characters.join('')),
      })
    })
  const rules = fc.constantFrom('requireUpper', 'requireLower', 'requireDigit', 'requireSpecial')
  fc.assert(
    fc.property(shuffled, rules, (sample, rule) => {
      const count = sample.group[rule].length
      expect(findWeakness(sample.password, { ...lenient, [rule]: count })).toBeUndefined()
      expect(findWeakness(sample.password, { ...lenient, [rule]: count + 1 })).toContain(`at least ${count + 1} `)
    }),
  )
})

test.each<[string, string, number, string | undefined]>([
  ['summer2025', 'summer2026', 0, undefined],
  ['same', 'same', 0, undefined],
  ['summer2025', 'summer2026', 1, undefined],
  ['summer2025', 'summer2026', 2, 'Password must differ from the current one in at least 2 characters'],
  ['same', 'same', 1, 'Password must differ from the current one in at least 1 character'],
  ['summer2025', 'summer2025-11', 3, undefined],
  ['😀😀😀', '😀😁😀', 2, 'Password must differ from the current one in at least 2 characters'],
  ['😀😀😀', '😀😁😀', 1, undefined],
  ['caf\u00e9', 'cafe\u0301', 2, undefined],
  ['', 'abc', 3, undefined],
  ['old', 'x'.repeat(73), 1, tooLong],
  ['x'.repeat(73), 'x', 72, undefined],
])('from %j to %j with at least %d changed the rule says %j', (oldPassword, newPassword, minChanged, expected) => {
  expect(findTooLittleChange(oldPassword, newPassword, { ...lenient, minChanged })).toBe(expected)
})

test('60 KB of password are refused by their bytes, before anything compares them', () => {
  const hostile = 'a'.repeat(60_000)
  const policy = { ...lenient, minLength: 8, minChanged: 72, requireDigit: 72 }
  // A comparison of these two would take 3.6 billion steps and outlast the test's time limit.
  expect(findTooLittleChange(`b${hostile}`, hostile, policy)).toBe(tooLong)
  expect(findTooLittleChange(hostile, 'short', policy)).toBeUndefined()
  expect(findWeakness(hostile, policy)).toBe(tooLong)
})

const HOUR = 3600
const setAt = 1_700_000_000.25

test.each<[number | null, number, number, string | undefined, string]>([
  [setAt, 0, 0, undefined, 'there is no minimum'],
  [setAt, 24, 0, 'only 24 hours after it was set; try again in 24 hours', 'it was set just now'],
  [setAt, 24, 1, 'only 24 hours after it was set; try again in 24 hours', 'a begun hour is a whole one'],
  [setAt, 24, HOUR, 'only 24 hours after it was set; try again in 23 hours', 'an hour has passed'],
  [setAt, 24, 23 * HOUR, 'only 24 hours after it was set; try again in 1 hour', 'an hour is left'],
  [setAt, 24, 24 * HOUR - 1, 'only 24 hours after it was set; try again in 1 hour', 'a second is left'],
  [setAt, 24, 24 * HOUR, undefined, 'the time is up'],
  [setAt, 24, 1000 * HOUR, undefined, 'the time is long up'],
  [setAt, 1, 0, 'only 1 hour after it was set; try again in 1 hour', 'one hour is singular'],
  [setAt, 24, -500 * HOUR, 'only 24 hours after it was set; try again in 24 hours', 'the clock was set back'],
  [setAt, 0, -500 * HOUR, undefined, 'there is no minimum, whatever the clock says'],
  [null, 24, 0, undefined, 'nobody knows when it was set'],
])('set at %s with a minimum of %d hours, %d seconds later: %j, because %s', (set, minAgeHours, later, expected) => {
  const sentence = expected === undefined ? undefined : `Password can be changed ${expected}`
  expect(findTooYoung(set, setAt + later, { ...lenient, minAgeHours })).toBe(sentence)
})

test.each<[number | null, number, number, boolean, string]>([
  [setAt, 0, 1e9, false, 'expiry is off'],
  [setAt, 90, 90 * 24 * HOUR - 1, false, 'a second is left'],
  [setAt, 90, 90 * 24 * HOUR, true, 'the time is up'],
  [setAt, 90, 1e9, true, 'the time is long up'],
  [setAt, 90, -1, false, 'it was set in the future'],
  [null, 90, 1e9, false, 'nobody knows when it was set'],
])(
  'set at %s with a maximum of %d days, %d seconds later: expired %s, because %s',
  (set, maxAgeDays, later, expected) => {
    expect(isExpired(set, setAt + later, { ...lenient, maxAgeDays })).toBe(expected)
  },
)

test('a broken rule becomes a refusal with its sentence, and an unbroken one nothing', () => {
  expect(() => requireAcceptable(undefined)).not.toThrow()
  expect(() => requireAcceptable(tooLong)).toThrow(new AppError('password_rejected', tooLong))
})

test('no sentence ever repeats the password', () => {
  const secret = 'Hunter2'
  const policy = { ...lenient, minLength: 8, requireSpecial: 1, minChanged: 5 }
  expect(findWeakness(secret, policy)).not.toContain(secret)
  expect(findTooLittleChange(secret, `${secret}!`, policy)).not.toContain(secret)
})
