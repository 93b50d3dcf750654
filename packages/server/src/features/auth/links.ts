import { createHash, timingSafeEqual } from 'node:crypto'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Account } from '../accounts/account.ts'
import { TokenRefused, type Tokens, type Verified } from '../sessions/tokens.ts'

const VERIFY_HOURS = 72
const RESET_HOURS = 1
/** Hexadecimal digits of a digest: enough to tell two password hashes apart, too few to learn anything from. */
const MARK_LENGTH = 16

/** A link for a letter. */
export interface Link {
  readonly link: string
  readonly lifeHours: number
}

/** The one-time links we send by mail. Tokens travel in the fragment, which browsers never send to a server. */
export class Links {
  readonly #tokens: Tokens
  readonly #clock: Clock
  readonly #settings: () => Pick<Settings['auth'], 'inviteExpireHours'>

  constructor(parts: { tokens: Tokens; clock: Clock; settings: () => Pick<Settings['auth'], 'inviteExpireHours'> }) {
    this.#tokens = parts.tokens
    this.#clock = parts.clock
    this.#settings = parts.settings
  }

  /** Good for this address of this account: a change of the address makes it worthless, even if it comes back. */
  async toVerify(account: Addressed, externalUrl: string): Promise<Link> {
    const token = await this.#tokens.sign('verify', addressOf(account), this.#moments(VERIFY_HOURS))
    return { link: `${externalUrl}/#/verify?token=${token}`, lifeHours: VERIFY_HOURS }
  }

  /** Good for this password and address of the account: the first reset makes every such link worthless. */
  async toReset(account: Addressed & Pick<Account, 'passwordHash'>, externalUrl: string): Promise<Link> {
    const claims = { ...addressOf(account), pwb: passwordMark(account.passwordHash) }
    const token = await this.#tokens.sign('reset', claims, this.#moments(RESET_HOURS))
    return { link: `${externalUrl}/#/reset-password?token=${token}`, lifeHours: RESET_HOURS }
  }

  /** Good while the invitation is pending. */
  async toAccept({ id, email }: { id: string; email: string }, externalUrl: string): Promise<Link> {
    const lifeHours = this.#settings().inviteExpireHours
    const token = await this.#tokens.sign('invite', { sub: id, email }, this.#moments(lifeHours))
    return { link: `${externalUrl}/#/accept-invite?token=${token}`, lifeHours }
  }

  /** What a link says. Whether it was used before is for the caller to find out, in its transaction. */
  async read(purpose: 'verify' | 'reset' | 'invite', token: string): Promise<Verified> {
    try {
      return await this.#tokens.verify(purpose, token)
    } catch (error) {
      if (error instanceof TokenRefused) throw linkNotValid(purpose)
      throw error
    }
  }

  #moments(lifeHours: number): { issuedAt: number; expiresAt: number } {
    const issuedAt = this.#clock.nowMs() / 1000
    return { issuedAt, expiresAt: issuedAt + lifeHours * 3600 }
  }
}

/** Whose address it is, and which of them. */
type Addressed = Pick<Account, 'id' | 'email' | 'addressChanges'>

const addressOf = ({ id, email, addressChanges }: Addressed) => ({ sub: id, email, adr: addressChanges })

/** Whether a link was sent to the address the account has now. */
export function isForAddress(link: Verified, account: Addressed): boolean {
  return link.sub === account.id && link.email === account.email && link.adr === account.addressChanges
}

const NAMES = { verify: 'verification', reset: 'reset', invite: 'invitation' } as const

export function linkNotValid(purpose: keyof typeof NAMES): AppError {
  return new AppError('link_not_valid', `Invalid or expired ${NAMES[purpose]} token`)
}

/** Whether a reset link was made for the password the account has now. */
export function isForPassword({ pwb = '' }: Verified, passwordHash: string | null): boolean {
  const [sent, expected] = [Buffer.from(pwb), Buffer.from(passwordMark(passwordHash))]
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

function passwordMark(passwordHash: string | null): string {
  return createHash('sha256')
    .update(passwordHash ?? '')
    .digest('hex')
    .slice(0, MARK_LENGTH)
}
