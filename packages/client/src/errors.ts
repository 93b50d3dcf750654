import * as z from 'zod'

/** The server answered and refused. `message` is a sentence for people, `code` is for programs. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** One of the codes of `@svc/protocol/errors`, or one this client is too old to know. */
  readonly code: string | undefined
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, refusal: Refusal, headers: Pick<ApiError, 'requestId' | 'retryAfterSeconds'>) {
    super(refusal.detail)
    this.status = status
    this.code = refusal.code
    this.requestId = headers.requestId ?? refusal.requestId
    this.retryAfterSeconds = headers.retryAfterSeconds
  }

  /** The sentence the server gave, the same text as `message`. */
  get detail(): string {
    return this.message
  }
}

/** Why no usable answer came: nobody there, too slow, or something that is not this service. */
export type ConnectionFailure = 'unreachable' | 'timeout' | 'unreadable'

/** No usable answer came. Repeating a read later may succeed. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly reason: ConnectionFailure

  constructor(reason: ConnectionFailure, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/** What the body of a refusal says. */
export interface Refusal {
  readonly detail: string
  readonly code: string | undefined
  readonly requestId: string | undefined
}

const ValidationItem = z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })
type ValidationItem = z.infer<typeof ValidationItem>

const RefusalBody = z.object({
  detail: z
    .union([z.string(), z.array(ValidationItem), z.object({ error: z.string(), message: z.string() })])
    .optional(),
  error: z.string().optional(),
  code: z.string().optional(),
  request_id: z.string().optional(),
})
type RefusalBody = z.infer<typeof RefusalBody>

/** Reads every error body of the contract; anything else (a proxy's page, no body) is told by its status. */
export function readRefusal(status: number, body: unknown): Refusal {
  const parsed = RefusalBody.safeParse(body)
  const known: RefusalBody = parsed.success ? parsed.data : {}
  return {
    detail: sentenceOf(known) ?? `The server answered with status ${status}`,
    code: known.code ?? codeOf(known),
    requestId: known.request_id,
  }
}

function sentenceOf({ detail, error }: RefusalBody): string | undefined {
  if (typeof detail === 'string') return detail || undefined
  if (Array.isArray(detail)) return validationSentence(detail)
  if (detail) return detail.message
  return error === 'step_up_required' ? 'Confirm your password first' : error
}

/** Only words made for programs become codes; the `error` of a failed upstream is a sentence. */
function codeOf({ detail, error }: RefusalBody): string | undefined {
  if (typeof detail === 'object' && !Array.isArray(detail)) return detail.error
  return error === 'step_up_required' ? error : undefined
}

function validationSentence(items: readonly ValidationItem[]): string | undefined {
  return items.map(describeItem).join('; ') || undefined
}

/** `loc` begins with the part of the request (body, query, path), which only matters when it stands alone. */
function describeItem({ loc, msg }: ValidationItem): string {
  const field = (loc.length > 1 ? loc.slice(1) : loc).join('.')
  const reason = msg.replace(/^Value error, /, '')
  return field ? `${field}: ${reason}` : reason
}
