import { randomUUID } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { ReadCache } from '../../kernel/read-cache.ts'
import type { RequestFacts } from '../../kernel/route.ts'
import { storedHeader } from '../../kernel/stored-header.ts'
import { whenCommitted, whenOver } from '../../storage/aftermath.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { passwordAgesFrom, requireUsable } from '../accounts/usable.ts'
import type { AuditEntry, Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Session, SignInWay } from './session.ts'
import { isRepeatedRefresh } from './session.ts'
import type { SessionStore } from './session-store.ts'
import { TokenRefused, type Tokens } from './tokens.ts'

type Tx = Transaction<Database>

const SESSIONS_KEPT = 10_000

interface SessionsParts {
  readonly storage: Storage
  readonly store: SessionStore
  readonly tokens: Tokens
  readonly accounts: Accounts
  readonly audit: AuditLog
  readonly settings: () => Pick<Settings, 'sessions' | 'passwords'>
  readonly clock: Clock
}

/** Who is signed in where. A session that has a row is alive; ending it means deleting the row. */
export class Sessions {
  /** Sessions are over: whatever they have open must close. */
  readonly ended = new Announcer<{ userId: string; sessionIds: readonly string[] }>()
  /** A session has another token, and with it another end. */
  readonly refreshed = new Announcer<{ sessionId: string; expiresAt: number }>()
  readonly #parts: SessionsParts
  readonly #byJti: ReadCache<Session>

  constructor(parts: SessionsParts) {
    this.#parts = parts
    const load = (jti: string) => parts.store.findByJti(parts.storage.db, jti)
    this.#byJti = new ReadCache({ capacity: SESSIONS_KEPT, load })
  }

  /** From memory, or undefined when it must be looked for. */
  peek(jti: string): Session | undefined {
    return this.#byJti.peek(jti)
  }

  find(jti: string): Promise<Session | undefined> {
    return this.#byJti.get(jti)
  }

  /** Signs somebody in. The token is good once the transaction is committed. */
  async begin(tx: Tx, account: Account, how: { via: SignInWay; request: RequestFacts }): Promise<string> {
    const { store, accounts, audit } = this.#parts
    const nowSeconds = this.#nowSeconds()
    await store.deleteExpired(tx, nowSeconds)
    const session: Session = {
      id: randomUUID(),
      userId: account.id,
      createdAt: nowSeconds,
      lastSeenAt: nowSeconds,
      sourceIp: how.request.clientAddress ?? null,
      userAgent: storedHeader(how.request.userAgent),
      previousJti: null,
      refreshedAt: null,
      ...this.#freshToken(),
    }
    await store.insert(tx, session)
    await accounts.change(tx, account.id, { lastLoginAt: nowSeconds })
    const origin = { actor: { userId: account.id, email: account.email }, request: how.request }
    await this.#enforceCap(tx, account.id, origin)
    const detail = { via: how.via }
    await audit.record(tx, origin, { event: 'login', targetType: 'user', targetId: account.id, detail })
    return this.#tokenOf(session, account.email)
  }

  /**
   * Gives the session a new token in place of this one. A client that never saw the answer may ask again with the old
   * token and gets the same new one: it is made again from the row, so this holds after a restart too.
   */
  async refresh(token: string, request: RequestFacts): Promise<{ token: string; session: Session; account: Account }> {
    const { storage, store, accounts } = this.#parts
    const { jti, expired } = await this.#claimsForRefresh(token)
    const result = await storage.transaction(async (tx) => {
      const nowSeconds = this.#nowSeconds()
      const current = expired ? undefined : await store.findByJti(tx, jti)
      const repeated = current ? undefined : await store.findByPreviousJti(tx, jti)
      const session = current ?? (repeated && isRepeatedRefresh(repeated, jti, nowSeconds) ? repeated : undefined)
      if (!session) throw expired ? new AppError('not_authenticated', 'Token expired') : revoked()
      const account = await accounts.require(session.userId, tx)
      requireUsable(
        { ...account, passwordAgesFrom: passwordAgesFrom(account) },
        nowSeconds,
        this.#parts.settings().passwords,
      )
      if (session === repeated) return { session, account }
      const next: Session = { ...session, previousJti: jti, refreshedAt: nowSeconds, ...this.#freshToken() }
      const origin = { actor: { userId: account.id, email: account.email }, request }
      if ((await this.#enforceCap(tx, account.id, origin)).includes(session.id)) return undefined
      await store.rekey(tx, next)
      whenOver(tx, () => this.#byJti.forget(jti))
      whenCommitted(tx, () => this.refreshed.announce({ sessionId: next.id, expiresAt: next.expiresAt }))
      return { session: next, account }
    })
    if (!result) throw revoked() // after the commit: the cap was lowered, and this session was one too many
    return { ...result, token: await this.#tokenOf(result.session, result.account.email) }
  }

  /** Ends the session of a token, also of one that a refresh has just replaced. Any other text ends nothing. */
  async end(token: string, request: RequestFacts): Promise<void> {
    const { storage, store, tokens, accounts, audit } = this.#parts
    const claims = await tokens.verifyEvenIfExpired('session', token).catch(nothingWhenRefused)
    const jti = claims?.jti
    if (jti === undefined) return
    await storage.transaction(async (tx) => {
      const nowSeconds = this.#nowSeconds()
      const replaced = await store.findByPreviousJti(tx, jti)
      const session =
        (await store.findByJti(tx, jti)) ??
        (replaced && isRepeatedRefresh(replaced, jti, nowSeconds) ? replaced : undefined)
      if (!session) return
      await this.#delete(tx, [session])
      if (session.expiresAt <= nowSeconds) return
      const account = await accounts.require(session.userId, tx)
      const origin = { actor: { userId: account.id, email: account.email }, request }
      await audit.record(tx, origin, { event: 'logout', targetType: 'session', targetId: account.id, detail: null })
    })
  }

  /** Ends every session of somebody, the one that asks for it included. */
  async endAll(tx: Tx, userId: string, origin: Origin, reason: string): Promise<void> {
    const sessions = await this.#parts.store.listOf(tx, userId)
    if (sessions.length === 0) return
    await this.#delete(tx, sessions)
    await this.#parts.audit.record(tx, origin, revocation(userId, { reason }))
  }

  /** Those that have not expired, the oldest first. */
  async listOf(userId: string): Promise<Session[]> {
    const nowSeconds = this.#nowSeconds()
    const sessions = await this.#parts.store.listOf(this.#parts.storage.db, userId)
    return sessions.filter((session) => session.expiresAt > nowSeconds)
  }

  async purgeExpired(): Promise<void> {
    const { storage, store } = this.#parts
    await storage.transaction((tx) => store.deleteExpired(tx, this.#nowSeconds()))
  }

  /** Ends the oldest sessions beyond the cap, and answers their ids. */
  async #enforceCap(tx: Tx, userId: string, origin: Origin): Promise<readonly string[]> {
    const cap = this.#parts.settings().sessions.maxPerUser
    if (cap === 0) return []
    const nowSeconds = this.#nowSeconds()
    const sessions = (await this.#parts.store.listOf(tx, userId)).filter(({ expiresAt }) => expiresAt > nowSeconds)
    const surplus = sessions.slice(0, Math.max(0, sessions.length - cap))
    if (surplus.length === 0) return []
    await this.#delete(tx, surplus)
    const detail = { reason: 'session-limit', revoked: surplus.length, cap }
    await this.#parts.audit.record(tx, origin, revocation(userId, detail))
    return surplus.map(({ id }) => id)
  }

  async #delete(tx: Tx, sessions: readonly Session[]): Promise<void> {
    const [first] = sessions
    if (!first) return
    const sessionIds = sessions.map(({ id }) => id)
    await this.#parts.store.delete(tx, sessionIds)
    whenOver(tx, () => {
      for (const { jti } of sessions) this.#byJti.forget(jti)
    })
    whenCommitted(tx, () => this.ended.announce({ userId: first.userId, sessionIds }))
  }

  async #claimsForRefresh(token: string): Promise<{ jti: string; expired: boolean }> {
    const { tokens } = this.#parts
    try {
      const { jti, expiresAt } = await tokens.verifyEvenIfExpired('session', token)
      if (jti === undefined) throw new TokenRefused('of no session')
      return { jti, expired: expiresAt <= this.#nowSeconds() }
    } catch (error) {
      if (error instanceof TokenRefused) throw new AppError('not_authenticated', 'Invalid token')
      throw error
    }
  }

  /** Whole seconds, as tokens carry them: a token made again from the row must be the same. */
  #freshToken(): Pick<Session, 'jti' | 'issuedAt' | 'expiresAt'> {
    const issuedAt = Math.floor(this.#nowSeconds())
    const lifeSeconds = Math.max(1, Math.floor(this.#parts.settings().sessions.accessTokenHours * 3600))
    return { jti: randomUUID(), issuedAt, expiresAt: issuedAt + lifeSeconds }
  }

  #tokenOf(session: Session, email: string): Promise<string> {
    return this.#parts.tokens.sign('session', { sub: session.userId, email, jti: session.jti }, session)
  }

  #nowSeconds(): number {
    return this.#parts.clock.nowMs() / 1000
  }
}

const revoked = () => new AppError('not_authenticated', 'Token has been revoked')

function revocation(userId: string, detail: Readonly<Record<string, unknown>>): AuditEntry {
  return { event: 'session.revoke', targetType: 'session', targetId: userId, detail }
}

function nothingWhenRefused(error: unknown): undefined {
  if (!(error instanceof TokenRefused)) throw error
}
