import type { ErrorCode } from '@svc/protocol/errors'

/** The one place where a refusal becomes an HTTP status. A new code without a status does not compile. */
export const STATUS = {
  bad_request: 400,
  invalid_request: 422,
  not_authenticated: 401,
  permission_denied: 403,
  step_up_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>
