import { type CloseCode, closeCodes } from '@svc/protocol/ws/close-codes'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller } from '../../kernel/route.ts'
import { SocketRefused } from '../../kernel/socket-refused.ts'
import type { ActivityStamps } from './activity-stamps.ts'
import type { SignInGuard } from './sign-in-guard.ts'
import { TokenRefused, type Tokens } from './tokens.ts'

interface SocketSignInParts {
  readonly guard: SignInGuard
  readonly tokens: Tokens
  readonly stamps: ActivityStamps
  readonly clock: Clock
}

/** Lets people have a socket by the rules by which they may call the API. Whatever else keeps one shut belongs here. */
export class SocketSignIn {
  readonly #parts: SocketSignInParts

  constructor(parts: SocketSignInParts) {
    this.#parts = parts
  }

  /** Throws `SocketRefused`. */
  async admit(token: string | undefined): Promise<{ caller: Caller; expiresAt: number }> {
    if (token === undefined) throw new SocketRefused(closeCodes.signedOut, 'Not authenticated')
    try {
      return await this.#parts.guard.admit(token)
    } catch (error) {
      if (await this.#isExpired(token)) throw new SocketRefused(closeCodes.expired, 'The token has expired')
      throw refusalOf(error)
    }
  }

  /** Throws `SocketRefused`. */
  async readmit(caller: Caller): Promise<Caller> {
    try {
      return await this.#parts.guard.readmit(caller)
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** What comes on a socket is as good a sign of life as a request. */
  noteActivity({ userId, sessionId }: Caller): void {
    const { stamps, clock } = this.#parts
    const nowSeconds = clock.nowMs() / 1000
    stamps.touchSession(sessionId, nowSeconds)
    stamps.touchUser(userId, nowSeconds)
  }

  async #isExpired(token: string): Promise<boolean> {
    try {
      const { expiresAt } = await this.#parts.tokens.verifyEvenIfExpired('session', token)
      return expiresAt * 1000 <= this.#parts.clock.nowMs()
    } catch (error) {
      if (error instanceof TokenRefused) return false
      throw error
    }
  }
}

/** Anything but a refusal is a fault, and stays one. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const code: CloseCode = error.code === 'password_change_required' ? closeCodes.passwordChange : closeCodes.signedOut
  return new SocketRefused(code, error.message, { cause: error })
}
