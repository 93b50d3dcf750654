import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createClient } from './client.ts'
import { ApiError, ConnectionError } from './errors.ts'

/** A real server for one test; answers its address. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('the call should have failed'),
    (error: unknown) => error,
  )
}

test('health is read from the root and checked against the contract', async () => {
  const baseUrl = await listen(json(200, { status: 'ok', instance: 'i-1' }))
  expect(await createClient({ baseUrl }).health()).toEqual({ status: 'ok', instance: 'i-1' })
})

test('every call stays below the base path, with or without its closing slash', async () => {
  const asked: (string | undefined)[] = []
  const origin = await listen((request, response) => {
    asked.push(request.url)
    json(500, {})(request, response)
  })
  for (const baseUrl of [`${origin}/svc`, `${origin}/svc/`]) {
    const client = createClient({ baseUrl })
    for (const call of [client.health, client.audit, client.version, client.config, client.openapi]) {
      await failureOf(call())
    }
  }
  const paths = ['/svc/health', '/svc/audit', '/svc/api/v1/version', '/svc/api/v1/config', '/svc/api/v1/openapi.json']
  expect(asked).toEqual([...paths, ...paths])
})

test('a refusal becomes an ApiError with sentence, code, request id and waiting time', async () => {
  const baseUrl = await listen(
    json(
      429,
      { detail: 'Too many requests; retry later', code: 'rate_limited' },
      { 'retry-after': '7', 'x-request-id': 'r-9' },
    ),
  )
  const error = await failureOf(createClient({ baseUrl }).config())
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    status: 429,
    code: 'rate_limited',
    detail: 'Too many requests; retry later',
    requestId: 'r-9',
    retryAfterSeconds: 7,
  })
})

test('a page of a proxy in place of an error is told by its status', async () => {
  const baseUrl = await listen((_request, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'))
  expect(await failureOf(createClient({ baseUrl }).health())).toMatchObject({
    status: 502,
    message: 'The server answered with status 502',
  })
})

test('an answer of another shape is unreadable, not half believed', async () => {
  const baseUrl = await listen(json(200, { status: 'fine' }))
  const error = await failureOf(createClient({ baseUrl }).health())
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({ reason: 'unreadable' })
})

test('a server that is not there is unreachable', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const error = await failureOf(createClient({ baseUrl: `http://127.0.0.1:${port}` }).health())
  expect(error).toBeInstanceOf(ConnectionError)
  expect(error).toMatchObject({ reason: 'unreachable' })
})

test('a server that never answers runs into the time limit', async () => {
  const baseUrl = await listen(() => {})
  expect(await failureOf(createClient({ baseUrl }).health({ timeoutMs: 50 }))).toMatchObject({ reason: 'timeout' })
})

test('a call ended by its caller rejects with the reason of the caller', async () => {
  const ending = new AbortController()
  const baseUrl = await listen(() => ending.abort(new Error('page left')))
  const error = await failureOf(createClient({ baseUrl }).health({ signal: ending.signal }))
  expect(error).toMatchObject({ message: 'page left' })
})

test('another fetch can be given', async () => {
  const client = createClient({
    baseUrl: 'http://nowhere.invalid',
    fetch: async () => Response.json({ version: 'dev', commit: 'unknown', built_at: null, features: [] }),
  })
  expect(await client.version()).toMatchObject({ version: 'dev', built_at: null })
})
