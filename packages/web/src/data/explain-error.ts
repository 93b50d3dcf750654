import { ApiError, ConnectionError } from '@svc/client/errors'

export interface Explanation {
  readonly title: string
  readonly sentence: string
  readonly requestId: string | undefined
}

/** Tells a person what went wrong and, where it helps, what to do. */
export function explainError(error: unknown): Explanation {
  if (error instanceof ApiError) {
    const wait = error.retryAfterSeconds
    const hint = wait === undefined ? '' : ` Try again in ${wait} ${wait === 1 ? 'second' : 'seconds'}.`
    return {
      title: error.status < 500 ? 'The server refused' : 'The server failed',
      sentence: closed(error.detail) + hint,
      requestId: error.requestId,
    }
  }
  if (error instanceof ConnectionError) {
    return { title: connectionTitles[error.reason], sentence: closed(error.message), requestId: undefined }
  }
  const sentence = error instanceof Error ? closed(error.message) : 'The reason is not known.'
  return { title: 'Something went wrong', sentence, requestId: undefined }
}

const connectionTitles = {
  unreachable: 'No connection to the server',
  timeout: 'The server is slow to answer',
  unreadable: 'The answer makes no sense',
} satisfies Record<ConnectionError['reason'], string>

function closed(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
