import type { ChangeEmailRequest, ChangeHandleRequest, ChangePasswordRequest } from '@svc/protocol/auth'
import { AppError } from '../../kernel/app-error.ts'
import type { Background } from '../../kernel/background.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Mail } from '../../mail/mail.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import { type Accounts, emailInUse, handleTaken } from '../accounts/accounts.ts'
import { requireEmail } from '../accounts/email-address.ts'
import { requireHandle } from '../accounts/handle.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Lockout } from '../lockout/lockout.ts'
import type { PasswordGate } from '../lockout/password-gate.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Cooldown } from './cooldown.ts'
import type { Links } from './links.ts'
import { sendLetter } from './send-letter.ts'

interface OwnAccountParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly passwords: Passwords
  readonly gate: PasswordGate
  readonly lockout: Lockout
  readonly links: Links
  readonly mail: Mail
  /** So that nobody can have letter after letter sent to a stranger. */
  readonly cooldown: Cooldown
  readonly background: Background
  readonly audit: AuditLog
}

/** What people change of their own account. Each takes the current password: a session left open is not enough. */
export class OwnAccount {
  readonly #parts: OwnAccountParts

  constructor(parts: OwnAccountParts) {
    this.#parts = parts
  }

  /** Ends every session of the caller, this one included. */
  async changePassword(caller: Caller, input: ChangePasswordRequest, request: RequestFacts): Promise<void> {
    const { storage, passwords, lockout } = this.#parts
    const { current_password: current, new_password: next } = input
    const wrong = 'Current password is incorrect'
    const account = await this.#confirm(caller, current, request, { path: 'change-password', wrong })
    const hasPassword = account.passwordHash !== null
    const client = request.clientAddress
    const rules = { anyAge: account.mustChangePassword, client, ...(hasPassword ? { current } : {}) }
    const hash = await passwords.hashNext(account, next, rules)
    await storage.transaction(async (tx) => {
      const origin = { actor: caller, request }
      await passwords.replace(tx, account, hash, { via: 'self-service', mustChange: false, origin })
      await lockout.clear(tx, account.email)
    })
  }

  async changeEmail(caller: Caller, input: ChangeEmailRequest, request: RequestFacts): Promise<void> {
    const { storage, accounts, links, mail, cooldown, background, audit, lockout } = this.#parts
    const account = await this.#confirm(caller, input.password, request, { path: 'change-email' })
    const email = requireEmail(input.email)
    if (await accounts.findByEmail(email)) throw emailInUse()
    const takeBack = cooldown.begin(email)
    const renamed = { id: account.id, email, addressChanges: account.addressChanges + 1 }
    const link = await links.toVerify(renamed, request.externalUrl)
    await sendLetter(mail, email, { kind: 'verify', ...link }).catch((error: unknown) => {
      takeBack()
      throw error
    })
    await storage.transaction(async (tx) => {
      if (await accounts.findByEmail(email, tx)) throw emailInUse()
      const present = await accounts.requireUnchanged(tx, account)
      if (present.addressChanges !== account.addressChanges) {
        throw new AppError('conflict', 'The address was changed in the meantime')
      }
      await lockout.clear(tx, account.email)
      await accounts.change(tx, account.id, { email, verified: false })
      const entry = { event: 'user.email.change', targetType: 'user', targetId: account.id, detail: { email } } as const
      await audit.record(tx, { actor: caller, request }, entry)
    })
    background.run('telling the old address', () => mail.send(account.email, { kind: 'email-changed' }))
  }

  async changeHandle(caller: Caller, input: ChangeHandleRequest, request: RequestFacts): Promise<string> {
    const { storage, accounts, audit, lockout } = this.#parts
    const account = await this.#confirm(caller, input.password, request, { path: 'change-handle' })
    const handle = requireHandle(input.handle)
    await storage.transaction(async (tx) => {
      const holder = await accounts.findByHandle(handle, tx)
      if (holder && holder.id !== account.id) throw handleTaken(handle)
      await accounts.requireUnchanged(tx, account)
      await lockout.clear(tx, account.email)
      await accounts.change(tx, account.id, { handle })
      const entry = {
        event: 'user.handle.change',
        targetType: 'user',
        targetId: account.id,
        detail: { handle },
      } as const
      await audit.record(tx, { actor: caller, request }, entry)
    })
    return handle
  }

  async #confirm(
    caller: Caller,
    password: string,
    request: RequestFacts,
    { path, wrong = 'Password is incorrect' }: { path: string; wrong?: string },
  ): Promise<Account> {
    const account = await this.#parts.accounts.require(caller.userId)
    if (account.passwordHash === null) {
      // Somebody made the account for them, and they came by the link in their mail: there is nothing to compare with.
      if (account.mustChangePassword && path === 'change-password') return account
      throw new AppError('permission_denied', 'Account is managed by your identity provider')
    }
    await this.#parts.gate.pass({
      account,
      identifier: account.email,
      password,
      origin: { actor: caller, request },
      path,
      wrong: new AppError('invalid_credentials', wrong),
    })
    return account
  }
}
