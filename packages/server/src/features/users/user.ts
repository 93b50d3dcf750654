import type { UserSort } from '@svc/protocol/users'
import type { Account, GroupName } from '../accounts/account.ts'

/** An account as administrators see it: with its groups, and without anything secret. */
export interface User extends Omit<Account, 'passwordHash' | 'passwordSetAt' | 'addressChanges'> {
  readonly groups: readonly GroupName[]
}

/** Which users are listed, and in which order. */
export interface UserFilter {
  readonly sort: UserSort
  readonly order: 'asc' | 'desc'
  /** Part of the address; empty for everybody. */
  readonly q: string
}

/** What an administrator wants of a new account. */
export interface NewUser {
  readonly email: string
  readonly password: string | undefined
  /** Its owner proves the address first; a password that was given is then not used. */
  readonly sendVerificationEmail: boolean
}

/** What an administrator changes of an account. What is absent stays. */
export interface UserChange {
  readonly email?: string
  readonly password?: string
  readonly handle?: string
  readonly disabled?: boolean
  readonly mustChangePassword?: boolean
}

/** How the audit trail names what was sent, in the order it is listed. */
const FIELD_NAMES = {
  email: 'email',
  password: 'password',
  handle: 'handle',
  disabled: 'disabled',
  mustChangePassword: 'must_change_password',
} as const satisfies Record<keyof UserChange, string>

export function fieldsOf(change: UserChange): string[] {
  return Object.entries(FIELD_NAMES)
    .filter(([field]) => field in change)
    .map(([, name]) => name)
}
