import type { ErrorCode } from '@svc/protocol/errors'

/** The one place where a refusal becomes an HTTP status. A new code without a status does not compile. */
export const STATUS = {
  bad_request: 400,
  password_rejected: 400,
  link_not_valid: 400,
  invalid_request: 422,
  not_authenticated: 401,
  invalid_credentials: 401,
  permission_denied: 403,
  not_offered: 403,
  account_disabled: 403,
  account_not_verified: 403,
  password_expired: 403,
  password_change_required: 403,
  step_up_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  account_locked: 429,
  internal_error: 500,
  mail_failed: 503,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>
