import type { CloseCode } from '@svc/protocol/ws/close-codes'

/** A socket that may not be open, or no longer. Thrown by the sign-in check; told to the client as it closes. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused'
  readonly code: CloseCode

  constructor(code: CloseCode, reason: string, options?: { cause?: unknown }) {
    super(reason, options)
    this.code = code
  }
}
