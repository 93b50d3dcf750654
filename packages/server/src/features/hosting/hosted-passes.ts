import { randomUUID } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { TokenRefused, type Tokens, type Verified } from '../sessions/tokens.ts'
import type { Visitor } from './hosted-visitors.ts'

/** How long a browser may use applications until its page of the server asks again. */
const COOKIE_SECONDS = 15 * 60
/** From the click to the first request. */
const ENTRY_SECONDS = 60

export interface Pass {
  /** A secret. */
  readonly value: string
  readonly seconds: number
}

/** What browsers show at hosted addresses. Each is for one workspace, one person and one of their sessions. */
export class HostedPasses {
  readonly #tokens: Tokens
  readonly #clock: Clock
  /** Entry codes that were used, until they would have expired: each is good once. */
  readonly #used = new Map<string, number>()

  constructor(parts: { tokens: Tokens; clock: Clock }) {
    this.#tokens = parts.tokens
    this.#clock = parts.clock
  }

  async cookie(workspaceId: string, { userId, sessionId }: Visitor): Promise<Pass> {
    const moments = this.#moments(COOKIE_SECONDS)
    const value = await this.#tokens.sign('hosted', { sub: userId, sid: sessionId, wid: workspaceId }, moments)
    return { value, seconds: COOKIE_SECONDS }
  }

  async readCookie(workspaceId: string, value: string): Promise<Visitor | undefined> {
    return visitorIn(await this.#verified('hosted', value), workspaceId)
  }

  entry(workspaceId: string, { userId, sessionId }: Visitor): Promise<string> {
    const claims = { sub: userId, sid: sessionId, wid: workspaceId, jti: randomUUID() }
    return this.#tokens.sign('hosted-entry', claims, this.#moments(ENTRY_SECONDS))
  }

  /** Uses it up. */
  async takeEntry(workspaceId: string, code: string): Promise<Visitor | undefined> {
    const verified = await this.#verified('hosted-entry', code)
    const visitor = visitorIn(verified, workspaceId)
    if (!verified?.jti || !visitor) return undefined
    const nowSeconds = this.#clock.nowMs() / 1000
    for (const [jti, expiresAt] of this.#used) if (expiresAt <= nowSeconds) this.#used.delete(jti)
    if (this.#used.has(verified.jti)) return undefined
    this.#used.set(verified.jti, verified.expiresAt)
    return visitor
  }

  async #verified(purpose: 'hosted' | 'hosted-entry', text: string): Promise<Verified | undefined> {
    try {
      return await this.#tokens.verify(purpose, text)
    } catch (error) {
      if (error instanceof TokenRefused) return undefined
      throw error
    }
  }

  #moments(seconds: number): { issuedAt: number; expiresAt: number } {
    const issuedAt = Math.floor(this.#clock.nowMs() / 1000)
    return { issuedAt, expiresAt: issuedAt + seconds }
  }
}

function visitorIn(verified: Verified | undefined, workspaceId: string): Visitor | undefined {
  if (verified?.sid === undefined || verified.wid !== workspaceId) return undefined
  return { userId: verified.sub, sessionId: verified.sid }
}
