import type { ErrorCode } from '@svc/protocol/errors'
import type { FrameErrorCode } from '@svc/protocol/ws/server-frames'
import { AppError } from '../../kernel/app-error.ts'
import { FrameError } from '../../kernel/frame-error.ts'

const CODES: Partial<Record<ErrorCode, FrameErrorCode>> = {
  workspace_not_found: 'not_found',
  capacity_reached: 'capacity',
  running_limit_reached: 'capacity',
  draining: 'draining',
  audit_unavailable: 'audit',
}

/** What a socket is told when a workspace could not be started. A failure that nobody foresaw stays what it is. */
export function startRefusal(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  return new FrameError(CODES[error.code] ?? 'start_failed', error.message, { cause: error })
}
