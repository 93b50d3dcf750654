import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../kernel/route.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { SignInGuard } from '../sessions/sign-in-guard.ts'
import { TokenRefused, type Tokens, type Verified } from '../sessions/tokens.ts'
import { resourceOf } from '../workspaces/workspace-resource.ts'
import type { HostedPasses } from './hosted-passes.ts'
import type { LiveSessions } from './live-sessions.ts'

/** Somebody in one of their sessions. */
export type Visitor = Pick<Caller, 'userId' | 'sessionId'>

/** What came with a request. */
export interface Shown {
  readonly workspaceId: string
  readonly tokens: readonly string[]
  readonly cookies: readonly string[]
}

interface HostedVisitorsParts {
  readonly guard: Pick<SignInGuard, 'readmit'>
  readonly tokens: Tokens
  readonly sessions: Pick<Sessions, 'peek' | 'find'>
  readonly live: LiveSessions
  readonly passes: HostedPasses
  readonly access: Pick<AccessControl, 'peekAllows' | 'allows'>
}

/** Who asks for a hosted application, and whether they may. Asked for every request: nothing is good for a while. */
export class HostedVisitors {
  readonly #parts: HostedVisitorsParts

  constructor(parts: HostedVisitorsParts) {
    this.#parts = parts
  }

  /** Those of the tokens that this server made, whatever they are good for by now. */
  async ownOf(tokens: readonly string[]): Promise<ReadonlyMap<string, Verified>> {
    const own = new Map<string, Verified>()
    for (const token of tokens) {
      const claims = this.#parts.tokens.peekSession(token) ?? (await this.#claimsOf(token))
      if (claims) own.set(token, claims)
    }
    return own
  }

  /** The person behind a session token or a cookie; undefined when neither is good. */
  async find({ workspaceId, cookies }: Shown, own: Iterable<Verified>): Promise<Visitor | undefined> {
    for (const { jti, sub } of own) {
      const { sessions } = this.#parts
      const session = jti === undefined ? undefined : (sessions.peek(jti) ?? (await sessions.find(jti)))
      if (session?.userId !== sub) continue
      const visitor = { userId: sub, sessionId: session.id }
      if (await this.#parts.live.has(visitor)) return visitor
    }
    for (const cookie of cookies) {
      const visitor = await this.#parts.passes.readCookie(workspaceId, cookie)
      if (visitor && (await this.#parts.live.has(visitor))) return visitor
    }
    return undefined
  }

  /** Throws what keeps them out. */
  async requireMay(visitor: Visitor, workspaceId: string): Promise<void> {
    const { guard, live, access } = this.#parts
    if (!(await live.has(visitor))) throw new AppError('not_authenticated', 'Not authenticated')
    const caller = await guard.readmit(visitor)
    const resource = resourceOf(workspaceId)
    const may =
      access.peekAllows(caller, 'join-workspace', resource) ?? (await access.allows(caller, 'join-workspace', resource))
    if (!may) throw new AppError('permission_denied', 'Permission denied')
  }

  /** Also of one that has expired: it gives nobody access, and yet no application is to see it. */
  async #claimsOf(token: string): Promise<Verified | undefined> {
    const { tokens } = this.#parts
    try {
      return await tokens.verifySession(token)
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
    }
    try {
      return await tokens.verifyEvenIfExpired('session', token)
    } catch (error) {
      if (error instanceof TokenRefused) return undefined
      throw error
    }
  }
}
