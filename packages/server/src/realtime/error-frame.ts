import type { ErrorCode } from '@svc/protocol/errors'
import type { FrameErrorCode } from '@svc/protocol/ws/server-frames'
import { AppError } from '../kernel/app-error.ts'
import { FrameError, PERMISSION_DENIED } from '../kernel/frame-error.ts'

/**
 * Where a refusal of the service becomes one of a socket, unless a feature says more itself. `null`: only this action is
 * not the caller's to do. A new code without a row does not compile.
 */
const FRAME_CODES: Record<ErrorCode, FrameErrorCode | null> = {
  bad_request: 'invalid',
  password_rejected: 'invalid',
  link_not_valid: 'invalid',
  invalid_request: 'invalid',
  not_authenticated: null,
  invalid_credentials: null,
  permission_denied: null,
  not_offered: null,
  account_disabled: null,
  account_not_verified: null,
  password_expired: null,
  password_change_required: null,
  step_up_required: null,
  workspace_not_found: 'not_found',
  not_found: 'not_found',
  method_not_allowed: 'invalid',
  conflict: 'conflict',
  container_not_running: 'container_gone',
  file_permission_denied: null,
  file_not_text: 'invalid',
  archive_invalid: 'invalid',
  archive_too_large: 'too_large',
  image_not_usable: 'start_failed',
  payload_too_large: 'too_large',
  unsupported_media_type: 'invalid',
  rate_limited: 'capacity',
  account_locked: null,
  volume_quota_reached: 'capacity',
  internal_error: 'internal',
  mail_failed: 'internal',
  capacity_reached: 'capacity',
  running_limit_reached: 'capacity',
  draining: 'draining',
  audit_unavailable: 'audit',
  start_failed: 'start_failed',
  unavailable: 'capacity',
  app_not_answering: 'not_found',
}

interface Refusal {
  readonly code: FrameErrorCode | undefined
  readonly message: string
}

/** What a client is told of a failure; undefined when it is a fault of ours, which is logged and not told. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof FrameError) return { code: error.code, message: error.message }
  if (!(error instanceof AppError) || error.code === 'internal_error') return undefined
  const code = FRAME_CODES[error.code] ?? undefined
  return { code, message: error.code === 'permission_denied' ? PERMISSION_DENIED : error.message }
}

export const INTERNAL: Refusal = { code: 'internal', message: 'The server failed; the reason is in its log' }
