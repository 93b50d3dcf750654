import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import { isExpired } from '../passwords/password-policy.ts'
import type { Account } from './account.ts'

/** When a password's age counts from; null when the account has none, so that it never gets too old. */
export function passwordAgesFrom(
  account: Pick<Account, 'passwordHash' | 'passwordSetAt' | 'createdAt'>,
): number | null {
  return account.passwordHash === null ? null : (account.passwordSetAt ?? account.createdAt)
}

/** What keeps the owner of an account out, whatever they want to do. */
export function requireUsable(
  account: { disabled: boolean; passwordAgesFrom: number | null },
  nowSeconds: number,
  policy: Settings['passwords'],
): void {
  if (account.disabled) throw accountDisabled()
  if (isExpired(account.passwordAgesFrom, nowSeconds, policy)) throw passwordExpired()
}

export const accountDisabled = () => new AppError('account_disabled', 'Account disabled')

export const passwordExpired = () => new AppError('password_expired', 'Your password has expired. Choose a new one.')
