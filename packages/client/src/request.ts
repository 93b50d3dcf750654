import type * as z from 'zod'
import { ApiError, ConnectionError, readRefusal } from './errors.ts'

/** Longer than any answer of a healthy server, shorter than a person's patience. */
const DEFAULT_TIMEOUT_MS = 15_000

export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's own reason. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** GETs a JSON document and checks its shape. Rejects with `ApiError` or `ConnectionError`. */
export async function getJson<T>(
  fetch: typeof globalThis.fetch,
  url: URL,
  schema: z.ZodType<T>,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: CallOptions = {},
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const text = await response.text()
    if (!response.ok) throw refusalOf(response, text)
    return readReply(url, text, schema)
  } catch (error) {
    if (error instanceof ApiError || error instanceof ConnectionError) throw error
    signal?.throwIfAborted()
    if (timeout.aborted) {
      throw new ConnectionError('timeout', `The server did not answer within ${timeoutMs / 1000} seconds`)
    }
    throw new ConnectionError('unreachable', 'The server cannot be reached', { cause: error })
  }
}

function refusalOf(response: Response, text: string): ApiError {
  return new ApiError(response.status, readRefusal(response.status, parseJson(text)), {
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: wholeSeconds(response.headers.get('retry-after')),
  })
}

function readReply<T>(url: URL, text: string, schema: z.ZodType<T>): T {
  const reply = schema.safeParse(parseJson(text))
  if (reply.success) return reply.data
  throw new ConnectionError('unreadable', `${url.pathname} gave an answer this client does not understand`, {
    cause: reply.error,
  })
}

/** undefined for what is not JSON: the caller then judges it like any other wrong shape. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wholeSeconds(header: string | null): number | undefined {
  return header !== null && /^\d+$/.test(header) ? Number(header) : undefined
}
