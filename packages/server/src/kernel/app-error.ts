import type { ErrorCode } from '@svc/protocol/errors'

/**
 * A refusal we expected. `message` is shown to the caller; anything private goes in `cause`.
 * Thrown where the rule is broken and turned into a response once, at the HTTP or socket edge.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  /** Seconds after which a repeat may succeed; sent as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; retryAfterSeconds?: number }) {
    super(message, options && 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.retryAfterSeconds = options?.retryAfterSeconds
  }
}
