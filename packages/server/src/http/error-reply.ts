import { AppError } from '../kernel/app-error.ts'
import { STATUS } from './status.ts'
import { InvalidRequest } from './validation.ts'

/** What goes back for a failure. `fault` is set when the failure is ours and belongs in the log. */
export interface ErrorReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  readonly fault: unknown
}

/** Turns anything thrown on the way through a request into the answer for it. Nothing private passes through here. */
export function errorReply(error: unknown, requestId: string): ErrorReply {
  if (error instanceof InvalidRequest) return refusal('invalid_request', error.problems, requestId)
  if (error instanceof AppError) return appErrorReply(error, requestId)
  const refused = frameworkRefusal(error)
  if (refused) return refusal(refused.code, refused.detail, requestId)
  return { ...refusal('internal_error', 'Internal server error', requestId), fault: error }
}

function appErrorReply(error: AppError, requestId: string): ErrorReply {
  // The contract fixes this body to the letter; clients compare it whole.
  if (error.code === 'step_up_required') {
    return { status: STATUS.step_up_required, headers: {}, body: { error: 'step_up_required' }, fault: undefined }
  }
  const detail =
    error.code === 'password_expired' ? { error: 'password_expired', message: error.message } : error.message
  const reply = refusal(error.code, detail, requestId)
  const headers: Record<string, string> = {}
  if (error.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfterSeconds)))
  }
  if (error.code === 'not_authenticated') headers['www-authenticate'] = 'Bearer'
  return { ...reply, headers, fault: reply.status >= 500 ? error.cause : undefined }
}

function refusal(code: keyof typeof STATUS, detail: unknown, requestId: string): ErrorReply {
  return { status: STATUS[code], headers: {}, body: { detail, code, request_id: requestId }, fault: undefined }
}

/** What Fastify refuses before a route is reached. Everything else it throws is a fault of ours. */
function frameworkRefusal(error: unknown): { code: keyof typeof STATUS; detail: unknown } | undefined {
  if (!(error instanceof Error)) return undefined
  // `If-Match` on a file of the UI, refused by the library that sends it.
  if (error.name === 'PreconditionFailedError') {
    return { code: 'conflict', detail: 'The file is not the one you asked for' }
  }
  if (!('code' in error)) return undefined
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return { code: 'payload_too_large', detail: 'The request body is too large' }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { code: 'unsupported_media_type', detail: 'Send the body as application/json' }
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { code: 'bad_request', detail: 'The body is not as long as Content-Length says' }
    case 'FST_ERR_BAD_URL':
      return { code: 'bad_request', detail: 'The address is not a valid URL path' }
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'not_found', detail: 'Not Found' }
    default:
      return undefined
  }
}
