import type { Clock } from '../../kernel/clock.ts'
import { TokenRefused, type Tokens, type Verified } from '../sessions/tokens.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

const SECONDS_PER_HOUR = 3600

/** What is wrong with a token, in the words of the `X-Token-Error` header. */
export type TokenProblem = 'missing' | 'expired' | 'invalid'

export interface IssuedToken {
  /** A secret. */
  readonly token: string
  /** Epoch seconds. */
  readonly expiresAt: number
}

/** Tokens by which programs in a workspace speak to the server. Each is good only for the container it was made for. */
export class WorkspaceTokens {
  readonly #tokens: Tokens
  readonly #workspaces: Pick<Workspaces, 'find'>
  readonly #lifetimeHours: () => number
  readonly #clock: Clock

  constructor(parts: {
    tokens: Tokens
    workspaces: Pick<Workspaces, 'find'>
    lifetimeHours: () => number
    clock: Clock
  }) {
    this.#tokens = parts.tokens
    this.#workspaces = parts.workspaces
    this.#lifetimeHours = parts.lifetimeHours
    this.#clock = parts.clock
  }

  async issue(workspaceId: string, containerId: string): Promise<IssuedToken> {
    const issuedAt = this.#clock.nowMs() / 1000
    const expiresAt = issuedAt + this.#lifetimeHours() * SECONDS_PER_HOUR
    const token = await this.#tokens.sign('workspace', { sub: workspaceId, cid: containerId }, { issuedAt, expiresAt })
    return { token, expiresAt }
  }

  /** The id of the workspace whose present container carries the token, or what is wrong with it. */
  async check(token: string | undefined): Promise<{ workspaceId: string } | { problem: TokenProblem }> {
    if (!token) return { problem: 'missing' }
    const fresh = await this.#verified(() => this.#tokens.verify('workspace', token))
    if (fresh) return (await this.#isPresent(fresh)) ? { workspaceId: fresh.sub } : { problem: 'invalid' }
    const old = await this.#verified(() => this.#tokens.verifyEvenIfExpired('workspace', token))
    return { problem: old && (await this.#isPresent(old)) ? 'expired' : 'invalid' }
  }

  async #verified(verify: () => Promise<Verified>): Promise<Verified | undefined> {
    try {
      return await verify()
    } catch (error) {
      if (error instanceof TokenRefused) return undefined
      throw error
    }
  }

  /** By the row and not by memory, so that a token is good while the server is only starting. */
  async #isPresent({ sub, cid }: Verified): Promise<boolean> {
    if (cid === undefined) return false
    return (await this.#workspaces.find(sub))?.containerId === cid
  }
}
