import type { ChangeExpiredPasswordRequest, LoginRequest } from '@svc/protocol/auth'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { RequestFacts } from '../../kernel/route.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { accountDisabled, passwordAgesFrom, passwordExpired } from '../accounts/usable.ts'
import type { Lockout } from '../lockout/lockout.ts'
import { lockoutKey, type PasswordGate } from '../lockout/password-gate.ts'
import { isExpired } from '../passwords/password-policy.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { requirePasswords } from './auth-modes.ts'
import type { SignedIn } from './signed-in.ts'

interface SignInParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly gate: PasswordGate
  readonly lockout: Lockout
  readonly settings: () => Pick<Settings, 'auth' | 'passwords'>
  readonly clock: Clock
}

/** Signing in with a password, and without one on the operator's own machine. */
export class SignIn {
  readonly #parts: SignInParts

  constructor(parts: SignInParts) {
    this.#parts = parts
  }

  async withPassword({ identifier, password }: LoginRequest, request: RequestFacts): Promise<SignedIn> {
    const { storage, accounts, sessions, lockout } = this.#parts
    const account = await this.#passGate(identifier, password, request)
    const signedIn = await storage.transaction(async (tx) => {
      const present = await accounts.requireUnchanged(tx, account)
      await lockout.clear(tx, lockoutKey({ account, identifier }))
      if (this.#isPasswordExpired(present)) return undefined // after the commit: the failures are cleared all the same
      return { account: present, token: await sessions.begin(tx, present, { via: 'password', request }) }
    })
    if (!signedIn) throw passwordExpired()
    return signedIn
  }

  /** The way back in for those whose password got too old: it takes the old one, and only while it is too old. */
  async withExpiredPassword(input: ChangeExpiredPasswordRequest, request: RequestFacts): Promise<SignedIn> {
    const { storage, sessions, passwords, lockout } = this.#parts
    const { identifier, current_password: current, new_password: next } = input
    const account = await this.#passGate(identifier, current, request, 'change-expired-password')
    if (!this.#isPasswordExpired(account)) throw new AppError('bad_request', 'The password has not expired')
    const rules = { anyAge: account.mustChangePassword, client: request.clientAddress }
    const hash = await passwords.hashNext(account, next, rules)
    const origin = { actor: { userId: account.id, email: account.email }, request }
    return storage.transaction(async (tx) => {
      await lockout.clear(tx, lockoutKey({ account, identifier }))
      await passwords.replace(tx, account, hash, { via: 'expired-password', mustChange: false, origin })
      const present = await this.#parts.accounts.require(account.id, tx)
      return { account: present, token: await sessions.begin(tx, present, { via: 'expired-password', request }) }
    })
  }

  /** Mode `none`: whoever sits at this machine is the administrator. Nobody else is, whatever page they come from. */
  async asLocalUser(request: RequestFacts): Promise<SignedIn> {
    const { storage, accounts, sessions, settings } = this.#parts
    if (settings().auth.modes !== 'none') throw new AppError('not_offered', 'Local sign-in is disabled')
    if (!request.isFromThisMachine || isForeign(request)) {
      throw new AppError('permission_denied', 'Local sign-in is only for people on this machine')
    }
    const account = await accounts.findLocalUser(settings().auth.defaultUser)
    if (!account) throw new Error('there is no administrator to sign in as; a restart makes one')
    if (account.disabled) throw accountDisabled()
    const token = await storage.transaction((tx) => sessions.begin(tx, account, { via: 'local', request }))
    return { token, account }
  }

  async #passGate(identifier: string, password: string, request: RequestFacts, path?: string): Promise<Account> {
    const { accounts, gate, settings } = this.#parts
    requirePasswords(settings().auth)
    const account = await accounts.findByIdentifier(identifier)
    const origin = { actor: null, request }
    await gate.pass({ account, identifier, password, origin, ...(path === undefined ? {} : { path }) })
    if (!account) throw new AppError('invalid_credentials', 'Invalid credentials')
    if (!account.verified) throw new AppError('account_not_verified', 'Account not verified. Check your email.')
    if (account.disabled) throw accountDisabled()
    return account
  }

  #isPasswordExpired(account: Account): boolean {
    const { settings, clock } = this.#parts
    return isExpired(passwordAgesFrom(account), clock.nowMs() / 1000, settings().passwords)
  }
}

/** A page of another origin is behind it. Programs send no origin. */
function isForeign({ origin, externalUrl }: RequestFacts): boolean {
  return origin !== undefined && origin !== new URL(externalUrl).origin
}
