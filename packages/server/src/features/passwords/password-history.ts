import { hasTooManyBytes } from './password-bytes.ts'
import type { PasswordHasher } from './password-hash.ts'
import type { PasswordPolicy } from './password-policy.ts'

const EQUALS_CURRENT = 'Password must differ from the current one'
const USED_RECENTLY = 'Password was used recently; choose another one'

export interface KnownPasswords {
  /** Null for an account without a password. */
  readonly currentHash: string | null
  /** The hashes before the current one, newest first. More than the policy asks for may be given. */
  readonly retiredHashes: readonly string[]
  /** The current password itself, where the person typed it and it was verified: saves one hash. */
  readonly currentPassword?: string
}

/**
 * Says so when `newPassword` is the current password or one of the last ones; undefined when it is neither.
 * Costs up to one hash for each password compared with, so ask after all rules of the policy.
 */
export async function findReuse(
  hasher: PasswordHasher,
  newPassword: string,
  known: KnownPasswords,
  policy: PasswordPolicy,
  client: string | undefined,
): Promise<string | undefined> {
  // What cannot be anybody's password was not used before either.
  if (policy.historyCount === 0 || hasTooManyBytes(newPassword)) return undefined
  if (newPassword === known.currentPassword) return EQUALS_CURRENT
  if (known.currentHash !== null && known.currentPassword === undefined) {
    if (await hasher.verify(newPassword, known.currentHash, client)) return EQUALS_CURRENT
  }
  // One after the other: whoever changes a password takes one place in the hasher's line, not a place per hash.
  for (const hash of known.retiredHashes.slice(0, policy.historyCount)) {
    if (await hasher.verify(newPassword, hash, client)) return USED_RECENTLY
  }
  return undefined
}
