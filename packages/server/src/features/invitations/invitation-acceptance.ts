import type { AcceptInvite } from '@svc/protocol/invitations'
import type { Kysely, Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { requirePasswords } from '../auth/auth-modes.ts'
import type { Links } from '../auth/links.ts'
import type { SignedIn } from '../auth/signed-in.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Verified } from '../sessions/tokens.ts'
import { type Invitation, requireInvitationsOffered } from './invitation.ts'
import type { InvitationStore } from './invitation-store.ts'

interface AcceptanceParts {
  readonly storage: Storage
  readonly store: InvitationStore
  readonly accounts: Pick<Accounts, 'create' | 'findByEmail'>
  readonly passwords: Pick<Passwords, 'hashFirst'>
  readonly sessions: Pick<Sessions, 'begin'>
  readonly links: Pick<Links, 'read'>
  readonly audit: Pick<AuditLog, 'record'>
  readonly settings: () => Pick<Settings['auth'], 'disableInvites' | 'modes'>
  readonly clock: Clock
}

/** Turns an invitation into an account and signs its owner in. Whoever holds the link has shown that they read the mail. */
export class InvitationAcceptance {
  readonly #parts: AcceptanceParts

  constructor(parts: AcceptanceParts) {
    this.#parts = parts
  }

  async accept({ token, password }: AcceptInvite, request: RequestFacts): Promise<SignedIn> {
    const { storage, links, passwords } = this.#parts
    this.#requireOffered()
    const claims = await links.read('invite', token)
    await this.#requireOpen(storage.db, claims)
    const passwordHash = await passwords.hashFirst(password, request.clientAddress)
    return storage.transaction(async (tx) => {
      const invitation = await this.#requireOpen(tx, claims)
      return this.#accept(tx, invitation, passwordHash, request)
    })
  }

  async #accept(
    tx: Transaction<Database>,
    invitation: Invitation,
    passwordHash: string,
    request: RequestFacts,
  ): Promise<SignedIn> {
    const { store, accounts, sessions, clock } = this.#parts
    const account = await accounts.create(tx, { email: invitation.email, verified: true, passwordHash })
    await store.markAccepted(tx, invitation.id, clock.nowMs() / 1000)
    await this.#record(tx, invitation, account, request)
    return { account, token: await sessions.begin(tx, account, { via: 'invite', request }) }
  }

  async #record(
    tx: Transaction<Database>,
    invitation: Invitation,
    account: Account,
    request: RequestFacts,
  ): Promise<void> {
    const { audit } = this.#parts
    const { id, email } = account
    const origin = { actor: { userId: id, email }, request }
    const detail = { email, status: 'created', via: 'invite' }
    await audit.record(tx, origin, { event: 'user.create', targetType: 'user', targetId: id, detail })
    await audit.record(tx, origin, {
      event: 'invitation.accept',
      targetType: 'invitation',
      targetId: invitation.id,
      detail: { email },
    })
  }

  #requireOffered(): void {
    const settings = this.#parts.settings()
    requireInvitationsOffered(settings)
    requirePasswords(settings, 'Password registration is disabled')
  }

  /** The invitation of a link that can still be accepted. */
  async #requireOpen(queries: Kysely<Database>, { sub, email }: Verified): Promise<Invitation> {
    const { store, accounts } = this.#parts
    const invitation = await store.find(queries, sub)
    if (invitation?.status !== 'pending' || invitation.email !== email) {
      throw new AppError('link_not_valid', 'Invitation is no longer valid')
    }
    if (await accounts.findByEmail(invitation.email, queries)) {
      throw new AppError('bad_request', 'An account with this email already exists')
    }
    return invitation
  }
}
