import { randomUUID } from 'node:crypto'
import type { RegisterRequest, ResendVerificationRequest } from '@svc/protocol/auth'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { RequestFacts } from '../../kernel/route.ts'
import type { Mail } from '../../mail/mail.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { requireEmail } from '../accounts/email-address.ts'
import { accountDisabled } from '../accounts/usable.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Lockout } from '../lockout/lockout.ts'
import { lockoutKey, type PasswordGate } from '../lockout/password-gate.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { requirePasswords } from './auth-modes.ts'
import type { Cooldown } from './cooldown.ts'
import { isForAddress, type Links, linkNotValid } from './links.ts'
import { sendLetter } from './send-letter.ts'
import type { SignedIn } from './signed-in.ts'

interface RegistrationParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly gate: PasswordGate
  readonly lockout: Lockout
  readonly links: Links
  readonly mail: Mail
  readonly cooldown: Cooldown
  readonly audit: AuditLog
  readonly settings: () => Settings['auth']
}

/** Creating one's own account, and proving that its address is one's own. */
export class Registration {
  readonly #parts: RegistrationParts
  /** Addresses whose letter is on its way. */
  readonly #registering = new Set<string>()

  constructor(parts: RegistrationParts) {
    this.#parts = parts
  }

  /** Signs in at once in test mode; everybody else has to open the mail first. */
  async register(input: RegisterRequest, request: RequestFacts): Promise<SignedIn | { email: string }> {
    const { accounts, passwords } = this.#parts
    const settings = this.#parts.settings()
    requirePasswords(settings, 'Password registration is disabled')
    if (settings.disableRegistration) throw new AppError('not_offered', 'Registration is disabled')
    const email = requireEmail(input.email)
    const passwordHash = await passwords.hashFirst(input.password, request.clientAddress)
    if (this.#registering.has(email)) throw registrationFailed()
    this.#registering.add(email) // or everybody who asks at the same moment would have a letter sent to it
    try {
      if (await accounts.findByEmail(email)) throw registrationFailed()
      return await this.#create(email, passwordHash, request)
    } finally {
      this.#registering.delete(email)
    }
  }

  async #create(email: string, passwordHash: string, request: RequestFacts): Promise<SignedIn | { email: string }> {
    const { storage, accounts, sessions, links, mail, audit } = this.#parts
    const id = randomUUID()
    const verified = this.#parts.settings().testMode
    if (!verified) {
      const link = await links.toVerify({ id, email, addressChanges: 0 }, request.externalUrl)
      await sendLetter(mail, email, { kind: 'verify', ...link })
    }
    return storage.transaction(async (tx) => {
      if (await accounts.findByEmail(email, tx)) throw registrationFailed()
      const account = await accounts.create(tx, { id, email, verified, passwordHash })
      await audit.record(
        tx,
        { actor: { userId: id, email }, request },
        { event: 'user.register', targetType: 'user', targetId: id, detail: { email, verified } },
      )
      if (!verified) return { email }
      return { account, token: await sessions.begin(tx, account, { via: 'register', request }) }
    })
  }

  /** Good once: while the account is unverified and still has the address the link was sent to. */
  async verify(token: string, request: RequestFacts): Promise<SignedIn> {
    const { storage, accounts, sessions, links } = this.#parts
    const link = await links.read('verify', token)
    return storage.transaction(async (tx) => {
      const account = await accounts.find(link.sub, tx)
      if (!account || account.verified || !isForAddress(link, account)) throw linkNotValid('verify')
      if (account.disabled) throw accountDisabled()
      await accounts.change(tx, account.id, { verified: true })
      return { account, token: await sessions.begin(tx, account, { via: 'email-verify', request }) }
    })
  }

  /** Takes the password, so that nobody can have mail sent to a stranger; wrong ones count towards the lockout. */
  async resend({ email, password }: ResendVerificationRequest, request: RequestFacts): Promise<void> {
    const { storage, accounts, gate, lockout, links, mail, cooldown } = this.#parts
    requirePasswords(this.#parts.settings())
    const account = await accounts.findByEmail(email)
    const origin = { actor: null, request }
    await gate.pass({ account, identifier: email, password, origin, path: 'resend-verification' })
    if (!account) throw new AppError('invalid_credentials', 'Invalid credentials')
    if (account.disabled) throw accountDisabled()
    await storage.transaction((tx) => lockout.clear(tx, lockoutKey({ account, identifier: email })))
    if (account.verified) throw new AppError('bad_request', 'Account already verified')
    const takeBack = cooldown.begin(account.email)
    try {
      const link = await links.toVerify(account, request.externalUrl)
      await sendLetter(mail, account.email, { kind: 'verify', ...link })
    } catch (error) {
      takeBack()
      throw error
    }
  }
}

/** Says no more than that: who has an account here is nobody's business. */
const registrationFailed = () => new AppError('bad_request', 'Registration failed')
