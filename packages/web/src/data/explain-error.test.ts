import { ApiError, ConnectionError } from '@svc/client/errors'
import { expect, test } from 'vitest'
import { explainError } from './explain-error.ts'

const refusal = (detail: string, retryAfterSeconds?: number, status = 429) =>
  new ApiError(status, { detail, code: undefined, requestId: 'r-1' }, { requestId: undefined, retryAfterSeconds })

const cases = [
  { error: refusal('Permission denied'), title: 'The server refused', sentence: 'Permission denied.' },
  { error: refusal('Wait', 1), title: 'The server refused', sentence: 'Wait. Try again in 1 second.' },
  { error: refusal('Wait!', 7), title: 'The server refused', sentence: 'Wait! Try again in 7 seconds.' },
  {
    error: refusal('Internal server error', undefined, 500),
    title: 'The server failed',
    sentence: 'Internal server error.',
  },
  { error: new ConnectionError('unreachable', 'Gone'), title: 'No connection to the server', sentence: 'Gone.' },
  { error: new ConnectionError('timeout', 'Late'), title: 'The server is slow to answer', sentence: 'Late.' },
  { error: new Error('Odd'), title: 'Something went wrong', sentence: 'Odd.' },
  { error: 'thrown text', title: 'Something went wrong', sentence: 'The reason is not known.' },
]

test.each(cases)('$title: $sentence', ({ error, title, sentence }) => {
  expect(explainError(error)).toMatchObject({ title, sentence })
})

test('a refusal can be found in the log by its request id', () => {
  expect(explainError(refusal('No')).requestId).toBe('r-1')
})
