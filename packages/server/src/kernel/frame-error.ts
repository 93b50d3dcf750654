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
