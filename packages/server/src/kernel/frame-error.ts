import type { FrameErrorCode } from '@svc/protocol/ws/server-frames'

/** A command on a socket that is refused. Without a code: this one action is not the caller's to do. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
  readonly code: FrameErrorCode | undefined

  constructor(code: FrameErrorCode | undefined, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

export const PERMISSION_DENIED = 'Permission denied'

/** Only this action is not the caller's to do. */
export const actionDenied = (): FrameError => new FrameError(undefined, PERMISSION_DENIED)
/** The workspace itself is out of the caller's reach. */
export const workspaceDenied = (): FrameError => new FrameError('forbidden', PERMISSION_DENIED)
