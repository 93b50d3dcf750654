import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller, Need, RequestFacts, SignIn } from '../../kernel/route.ts'
import type { Standing } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { requireUsable } from '../accounts/usable.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { ActivityStamps } from './activity-stamps.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import { TokenRefused, type Tokens } from './tokens.ts'

interface GuardParts {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly stamps: ActivityStamps
  readonly passwordPolicy: () => Settings['passwords']
  readonly clock: Clock
}

/** Who is calling, and whether they may. Everything it needs is in memory after the first request of a session. */
export class SignInGuard {
  readonly #parts: GuardParts

  constructor(parts: GuardParts) {
    this.#parts = parts
  }

  async identify(request: RequestFacts, signIn: SignIn): Promise<Caller | null> {
    const token = request.bearerToken
    if (token === undefined) return null
    const session = this.#rememberedSession(token) ?? (await this.#sessionOf(token))
    if (typeof session === 'string') {
      if (signIn === 'optional') return null
      throw new AppError('not_authenticated', session)
    }
    const { accounts } = this.#parts
    const standing = accounts.peekStanding(session.userId) ?? (await accounts.findStanding(session.userId))
    return this.#callerOf(session, standing, signIn)
  }

  /** Who comes with this token, wherever it stood, and until when it is good. */
  async admit(token: string): Promise<{ caller: Caller; expiresAt: number }> {
    const session = this.#rememberedSession(token) ?? (await this.#sessionOf(token))
    if (typeof session === 'string') throw new AppError('not_authenticated', session)
    return { caller: await this.#readCaller(session), expiresAt: session.expiresAt }
  }

  /** Somebody who was let in before, as they are now. Throws what would keep them out. */
  readmit({ userId, sessionId }: Pick<Caller, 'userId' | 'sessionId'>): Promise<Caller> {
    return this.#readCaller({ id: sessionId, userId })
  }

  async authorize(caller: Caller, need: Need): Promise<void> {
    const { access } = this.#parts
    if (
      access.peekAllows(caller, need.permission, need.on) ??
      (await access.allows(caller, need.permission, need.on))
    ) {
      return
    }
    throw new AppError('permission_denied', 'Permission denied')
  }

  async #readCaller(session: Pick<Session, 'id' | 'userId'>): Promise<Caller> {
    return this.#callerOf(session, await this.#parts.accounts.findStanding(session.userId), 'required')
  }

  /** Without a promise: every request passes here. */
  #callerOf(session: Pick<Session, 'id' | 'userId'>, standing: Standing | undefined, signIn: SignIn): Caller {
    const { stamps, clock } = this.#parts
    if (!standing) throw new AppError('not_authenticated', 'User not found')
    const nowSeconds = clock.nowMs() / 1000
    stamps.touchSession(session.id, nowSeconds)
    this.#requireGoodStanding(standing, signIn, nowSeconds)
    stamps.touchUser(standing.userId, nowSeconds)
    return { userId: standing.userId, email: standing.email, sessionId: session.id, groupIds: standing.groupIds }
  }

  #rememberedSession(token: string): Session | undefined {
    const jti = this.#parts.tokens.peekSession(token)?.jti
    return jti === undefined ? undefined : this.#parts.sessions.peek(jti)
  }

  /** The session of a token, or the sentence that says why there is none. */
  async #sessionOf(token: string): Promise<Session | string> {
    const { tokens, sessions } = this.#parts
    try {
      const { jti, sub } = tokens.peekSession(token) ?? (await tokens.verifySession(token))
      if (jti === undefined) return 'Invalid token'
      const session = await sessions.find(jti)
      if (session && session.userId !== sub) return 'Invalid token'
      return session ?? 'Token has been revoked'
    } catch (error) {
      if (error instanceof TokenRefused) return 'Invalid token'
      throw error
    }
  }

  #requireGoodStanding(standing: Standing, signIn: SignIn, nowSeconds: number): void {
    requireUsable(standing, nowSeconds, this.#parts.passwordPolicy())
    if (standing.mustChangePassword && signIn !== 'required, password change due') {
      throw new AppError('password_change_required', 'Password change required')
    }
  }
}
