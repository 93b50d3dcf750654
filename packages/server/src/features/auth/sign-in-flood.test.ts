import { expect, test } from 'vitest'
import { type AccountsServer, ADMIN, startAccounts } from '../../testing/start-accounts.ts'
import type { TestResponse } from '../../testing/start-http.ts'

/** A hash then takes about a tenth of a second: eighty requests arrive before the first few are done. */
const SLOW_ITERATIONS = 200_000

const loginFrom = (server: AccountsServer, address: string, identifier: string, password: string) =>
  server.request('POST', '/api/v1/auth/login', {
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ identifier, password }),
  })

async function sentAway(answer: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answer
  if (response.status !== 503) throw new Error(`expected 503, got ${response.status}`)
  return response
}

test('a client that floods the sign-in with unknown names is sent away, and keeps nobody else out', async () => {
  await using server = await startAccounts({ passwordIterations: SLOW_ITERATIONS })
  const flood = Array.from({ length: 80 }, (_, n) => loginFrom(server, '198.51.100.66', `nobody ${n}`, 'wrong'))
  // From now on the flooder's queue is full, for as long as the rest of the flood comes in.
  const refusal = await Promise.any(flood.map(sentAway))
  expect(refusal.headers['retry-after']).toBe('5')
  expect((await loginFrom(server, '203.0.113.5', ADMIN.email, ADMIN.password)).status).toBe(200)
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([401, 503]))
})
