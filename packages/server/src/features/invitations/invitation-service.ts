import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Mail } from '../../mail/mail.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { requireEmail } from '../accounts/email-address.ts'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Links } from '../auth/links.ts'
import { sendLetter } from '../auth/send-letter.ts'
import { type Invitation, requireInvitationsOffered } from './invitation.ts'
import type { InvitationStore, InvitationView } from './invitation-store.ts'

interface InvitationServiceParts {
  readonly storage: Storage
  readonly store: InvitationStore
  readonly accounts: Pick<Accounts, 'findByEmail'>
  readonly links: Pick<Links, 'toAccept'>
  readonly mail: Mail
  readonly audit: Pick<AuditLog, 'record'>
  readonly settings: () => Pick<Settings['auth'], 'disableInvites'>
  readonly clock: Clock
}

/** Who asks, and the request by which they do; their letters lead to where that request came in. */
interface Asking {
  readonly actor: Caller
  readonly request: RequestFacts
}

/** Asks people by mail to make an account. The letter goes first: when it fails, nothing has happened. */
export class InvitationService {
  readonly #parts: InvitationServiceParts
  /** Addresses whose letter is on its way. A second letter would hold a link that never works. */
  readonly #sending = new Set<string>()

  constructor(parts: InvitationServiceParts) {
    this.#parts = parts
  }

  /** The newest first. */
  list(): Promise<Invitation[]> {
    return this.#parts.store.all(this.#parts.storage.db)
  }

  async page(view: InvitationView): Promise<{ invitations: Invitation[]; total: number; pending: number }> {
    const { storage, store } = this.#parts
    return { ...(await store.page(storage.db, view)), pending: await store.countPending(storage.db) }
  }

  async invite(asking: Asking, address: string): Promise<Invitation> {
    requireInvitationsOffered(this.#parts.settings())
    const email = requireEmail(address)
    if (this.#sending.has(email)) throw alreadyInvited()
    this.#sending.add(email)
    try {
      return await this.#invite(asking, email)
    } finally {
      this.#sending.delete(email)
    }
  }

  async #invite(asking: Asking, email: string): Promise<Invitation> {
    const { storage, store, audit, clock } = this.#parts
    const { actor } = asking
    await this.#requireInvitable(storage.db, email)
    const invitation: Invitation = {
      id: randomUUID(),
      email,
      invitedBy: actor.userId,
      invitedByEmail: actor.email,
      status: 'pending',
      createdAt: clock.nowMs() / 1000,
      acceptedAt: null,
    }
    await this.#send(invitation, asking.request)
    await storage.transaction(async (tx) => {
      await this.#requireInvitable(tx, email)
      await store.insert(tx, invitation)
      await audit.record(tx, asking, about(invitation, 'invitation.create'))
    })
    return invitation
  }

  /** A fresh link to a pending invitation, also when the link before has expired. */
  async resend(asking: Asking, id: string): Promise<void> {
    const { storage, audit } = this.#parts
    requireInvitationsOffered(this.#parts.settings())
    await this.#send(await this.#requirePending(storage.db, id), asking.request)
    await storage.transaction(async (tx) => {
      const invitation = await this.#requirePending(tx, id)
      await audit.record(tx, asking, about(invitation, 'invitation.resend'))
    })
  }

  /** Makes every link to it worthless. */
  async revoke(asking: Asking, id: string): Promise<void> {
    const { storage, store, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const invitation = await this.#requirePending(tx, id)
      await store.markRevoked(tx, id)
      await audit.record(tx, asking, about(invitation, 'invitation.revoke'))
    })
  }

  async #send(invitation: Invitation, request: RequestFacts): Promise<void> {
    const link = await this.#parts.links.toAccept(invitation, request.externalUrl)
    const letter = { kind: 'invite', inviterEmail: invitation.invitedByEmail, ...link } as const
    await sendLetter(this.#parts.mail, invitation.email, letter)
  }

  async #requireInvitable(queries: Kysely<Database>, email: string): Promise<void> {
    const { accounts, store } = this.#parts
    if (await accounts.findByEmail(email, queries)) {
      throw new AppError('bad_request', 'A user with this email already exists')
    }
    if (await store.hasPending(queries, email)) throw alreadyInvited()
  }

  async #requirePending(queries: Kysely<Database>, id: string): Promise<Invitation> {
    const invitation = await this.#parts.store.find(queries, id)
    if (invitation?.status === 'pending') return invitation
    throw new AppError('not_found', 'Invitation not found or not pending')
  }
}

const alreadyInvited = () => new AppError('bad_request', 'A pending invitation for this email already exists')

function about({ id, email }: Invitation, event: AuditEntry['event']): AuditEntry {
  return { event, targetType: 'invitation', targetId: id, detail: { email } }
}
