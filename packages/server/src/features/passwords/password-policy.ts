import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import { editDistance } from './edit-distance.ts'
import { hasTooManyBytes, TOO_MANY_BYTES } from './password-bytes.ts'

// Each `find…` answers the sentence of the rule that is broken, or undefined. The caller says which rules apply:
// change-password asks all of them, a reset all but the change, an administrator for strength and history.

export type PasswordPolicy = Settings['passwords']

const SECONDS_PER_HOUR = 3600
const SECONDS_PER_DAY = 24 * SECONDS_PER_HOUR

/** Length, bytes and kinds of characters: what every new password must meet. */
export function findWeakness(password: string, policy: PasswordPolicy): string | undefined {
  if (hasTooManyBytes(password)) return TOO_MANY_BYTES
  const characters = [...password]
  const minLength = Math.max(1, policy.minLength) // an empty one is none, whatever the operator allows
  if (characters.length < minLength) return `Password must be at least ${counted(minLength, 'character')}`
  return findMissingClasses(characters, policy)
}

function findMissingClasses(characters: readonly string[], policy: PasswordPolicy): string | undefined {
  const count = { upper: 0, lower: 0, digit: 0, special: 0 }
  for (const character of characters) count[classOf(character)]++
  const missing = [
    { has: count.upper, needs: policy.requireUpper, name: 'uppercase letter' },
    { has: count.lower, needs: policy.requireLower, name: 'lowercase letter' },
    { has: count.digit, needs: policy.requireDigit, name: 'digit' },
    { has: count.special, needs: policy.requireSpecial, name: 'special character' },
  ].filter(({ has, needs }) => has < needs)
  if (missing.length === 0) return undefined
  return `Password must contain ${missing.map(({ needs, name }) => `at least ${counted(needs, name)}`).join(', ')}`
}

/** Letters and digits are those of ASCII; an `é` or a `٣` is special. */
function classOf(character: string): 'upper' | 'lower' | 'digit' | 'special' {
  if (/^[A-Z]$/.test(character)) return 'upper'
  if (/^[a-z]$/.test(character)) return 'lower'
  if (/^[0-9]$/.test(character)) return 'digit'
  return 'special'
}

/** Whether the new password is too like the old one; only for people who typed their old one. */
export function findTooLittleChange(
  oldPassword: string,
  newPassword: string,
  policy: PasswordPolicy,
): string | undefined {
  if (policy.minChanged === 0) return undefined
  // Comparing takes time by the product of the lengths, so neither may be long.
  if (hasTooManyBytes(newPassword)) return TOO_MANY_BYTES
  if (hasTooManyBytes(oldPassword)) return undefined // it was never anybody's password
  if (editDistance(oldPassword, newPassword) >= policy.minChanged) return undefined
  return `Password must differ from the current one in at least ${counted(policy.minChanged, 'character')}`
}

/** Whether the present password is too young to be changed. Null: nobody knows when it was set, so it is not. */
export function findTooYoung(
  setAtSeconds: number | null,
  nowSeconds: number,
  policy: PasswordPolicy,
): string | undefined {
  if (setAtSeconds === null) return undefined
  // A wall clock that was set back must not make the wait longer than the rule.
  const ageSeconds = Math.max(0, nowSeconds - setAtSeconds)
  const waitHours = Math.ceil((policy.minAgeHours * SECONDS_PER_HOUR - ageSeconds) / SECONDS_PER_HOUR)
  if (waitHours <= 0) return undefined
  const required = counted(policy.minAgeHours, 'hour')
  return `Password can be changed only ${required} after it was set; try again in ${counted(waitHours, 'hour')}`
}

/** Whether the password is past its maximum age. Null: nobody knows when it was set, so it is not. */
export function isExpired(setAtSeconds: number | null, nowSeconds: number, policy: PasswordPolicy): boolean {
  if (policy.maxAgeDays === 0 || setAtSeconds === null) return false
  return nowSeconds - setAtSeconds >= policy.maxAgeDays * SECONDS_PER_DAY
}

/** Throws the sentence of the first broken rule: `requireAcceptable(findTooYoung(…) ?? findWeakness(…))`. */
export function requireAcceptable(refusal: string | undefined): void {
  if (refusal !== undefined) throw new AppError('password_rejected', refusal)
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}
