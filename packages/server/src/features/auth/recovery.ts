import type { ResetPasswordRequest } from '@svc/protocol/auth'
import type { Settings } from '../../config/settings.ts'
import type { Background } from '../../kernel/background.ts'
import type { RequestFacts } from '../../kernel/route.ts'
import type { Mail } from '../../mail/mail.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { accountDisabled } from '../accounts/usable.ts'
import type { Lockout } from '../lockout/lockout.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Verified } from '../sessions/tokens.ts'
import { requirePasswords, takesPasswords } from './auth-modes.ts'
import type { Cooldown } from './cooldown.ts'
import { isForAddress, isForPassword, type Links, linkNotValid } from './links.ts'
import type { SignedIn } from './signed-in.ts'

interface RecoveryParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly passwords: Passwords
  readonly lockout: Lockout
  readonly links: Links
  readonly mail: Mail
  readonly cooldown: Cooldown
  readonly background: Background
  readonly settings: () => Settings['auth']
}

/** The way back for people who forgot their password. */
export class Recovery {
  readonly #parts: RecoveryParts

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /**
   * Answers at once and the same for every address; who has an account shows neither in the answer nor in its time.
   * What there is to do is done afterwards.
   */
  forgot(email: string, request: RequestFacts): void {
    const { cooldown, background } = this.#parts
    cooldown.begin(email)
    const { externalUrl } = request
    background.run('sending a password reset link', () => this.#sendLink(email, externalUrl))
  }

  /** Good once: the link names the password it replaces, and the address it was sent to. */
  async reset({ token, password }: ResetPasswordRequest, request: RequestFacts): Promise<SignedIn> {
    const { storage, accounts, sessions, passwords, lockout, links } = this.#parts
    requirePasswords(this.#parts.settings())
    const link = await links.read('reset', token)
    const account = requireFor(link, await accounts.find(link.sub))
    const rules = { anyAge: account.mustChangePassword, client: request.clientAddress }
    const hash = await passwords.hashNext(account, password, rules)
    return storage.transaction(async (tx) => {
      requireFor(link, await accounts.find(link.sub, tx))
      const origin = { actor: { userId: account.id, email: account.email }, request }
      await passwords.replace(tx, account, hash, { via: 'password-reset', mustChange: false, origin })
      await accounts.change(tx, account.id, { verified: true }) // whoever has the link reads the mail of the address
      await lockout.clear(tx, account.email)
      const present = await accounts.require(account.id, tx)
      return { account: present, token: await sessions.begin(tx, present, { via: 'password-reset', request }) }
    })
  }

  async #sendLink(email: string, externalUrl: string): Promise<void> {
    const { accounts, links, mail } = this.#parts
    if (!takesPasswords(this.#parts.settings())) return
    const account = await accounts.findByEmail(email)
    // For everybody, so that the work left behind tells as little as the answer.
    const link = await links.toReset(account ?? NOBODY, externalUrl)
    // Only accounts whose password is kept here; one that has none yet gets its first.
    if (!account || account.disabled || account.provider !== 'local') return
    await mail.send(account.email, { kind: 'reset', ...link })
  }
}

const NOBODY = { id: '', email: '', addressChanges: 0, passwordHash: null }

function requireFor(link: Verified, account: Account | undefined): Account {
  if (!account || !isForAddress(link, account) || !isForPassword(link, account.passwordHash)) {
    throw linkNotValid('reset')
  }
  if (account.disabled) throw accountDisabled()
  return account
}
