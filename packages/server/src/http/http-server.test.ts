import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../kernel/app-error.ts'
import { type Caller, Reply, type Route, route } from '../kernel/route.ts'
import { startHttp } from '../testing/start-http.ts'
import type { Guard } from './guard.ts'

const Note = z.object({ title: z.string().min(1), stars: z.int().min(0).max(5).default(0) })

const reply = z.object({ ok: z.boolean() })
const open = { tag: 'Test', summary: 'A test route', needs: 'anyone', reply } as const

const noteRoutes: Route[] = [
  route({ ...open, method: 'GET', path: '/notes', handle: () => ({ ok: true }) }),
  route({ ...open, method: 'POST', path: '/notes', body: Note, handle: ({ body }) => ({ ok: body.stars >= 0 }) }),
  route({
    ...open,
    method: 'GET',
    path: '/notes/:id',
    params: z.object({ id: z.string() }),
    query: z.object({ limit: z.coerce.number().pipe(z.int().min(1).max(100)).optional() }),
    handle: () => ({ ok: true }),
  }),
  route({
    ...open,
    method: 'POST',
    path: '/refuse/:code',
    params: z.object({ code: z.enum(['conflict', 'unavailable', 'step_up_required', 'bad_request']) }),
    handle: ({ params }) => {
      throw new AppError(params.code, 'Because of the test', {
        cause: new Error('private reason'),
        retryAfterSeconds: 7,
      })
    },
  }),
  route({
    ...open,
    method: 'GET',
    path: '/fault',
    handle: () => {
      throw new Error('connection to db.internal with password hunter2 failed')
    },
  }),
  route({ ...open, method: 'GET', path: '/lies', handle: () => JSON.parse('{"ok":"not a boolean"}') }),
  route({
    ...open,
    method: 'GET',
    path: '/large',
    reply: z.object({ text: z.string() }),
    handle: () => ({ text: 'svc '.repeat(1000) }),
  }),
  route({
    ...open,
    method: 'GET',
    path: '/plain',
    base: 'root',
    reply: { mediaType: 'text/plain', description: 'Text' },
    handle: () => new Reply('hello', { headers: { 'content-type': 'text/plain' } }),
  }),
]

describe('the answers to a request that cannot be served', () => {
  const jsonHeaders = { 'content-type': 'application/json' }
  test.each([
    ['GET', '/api/v1/nothing', undefined, 404, 'Not Found', 'not_found'],
    ['GET', '/api/v1/admin/users', undefined, 404, 'Not Found', 'not_found'],
    ['GET', '/nothing', undefined, 404, 'Not Found', 'not_found'],
    ['DELETE', '/api/v1/notes', undefined, 405, 'Method Not Allowed', 'method_not_allowed'],
    ['POST', '/plain', undefined, 405, 'Method Not Allowed', 'method_not_allowed'],
    ['POST', '/api/v1/refuse/conflict', '', 409, 'Because of the test', 'conflict'],
    ['POST', '/api/v1/refuse/bad_request', '', 400, 'Because of the test', 'bad_request'],
    ['POST', '/api/v1/refuse/unavailable', '', 503, 'Because of the test', 'unavailable'],
    ['GET', '/api/v1/fault', undefined, 500, 'Internal server error', 'internal_error'],
    ['GET', '/api/v1/%E0%A4%A', undefined, 400, 'The address is not a valid URL path', 'bad_request'],
    ['POST', '/api/v1/notes', `"${'x'.repeat(64 * 1024)}"`, 413, 'The request body is too large', 'payload_too_large'],
  ])('%s %s → %#: a sentence, a code and the request id', async (method, path, body, status, detail, code) => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request(method, path, { ...(body === undefined ? {} : { body, headers: jsonHeaders }) })
    expect(answer.status).toBe(status)
    expect(answer.json).toEqual({ detail, code, request_id: answer.headers['x-request-id'] })
  })

  test.each([
    ['POST', '/api/v1/nothing', 404],
    ['PUT', '/api/v1/notes', 405],
    ['POST', '/plain', 405],
  ])('%s %s is refused with %i before its body is looked at', async (method, path, status) => {
    await using http = await startHttp({ routes: noteRoutes })
    for (const body of ['{bad', `"${'x'.repeat(100 * 1024)}"`]) {
      expect((await http.request(method, path, { headers: jsonHeaders, body })).status).toBe(status)
    }
  })

  test('405 names the methods that work', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    expect((await http.request('PUT', '/api/v1/notes')).headers.allow).toBe('GET, HEAD, POST')
    expect((await http.request('OPTIONS', '/api/v1/notes')).headers.allow).toBe('GET, HEAD, POST')
  })

  test('a step-up refusal is exactly the body of the contract', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request('POST', '/api/v1/refuse/step_up_required')
    expect([answer.status, answer.text]).toEqual([403, '{"error":"step_up_required"}'])
  })

  test('a refusal may say when to come back', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    expect((await http.request('POST', '/api/v1/refuse/unavailable')).headers['retry-after']).toBe('7')
  })

  test('a fault shows the caller nothing and the log everything, under the same request id', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request('GET', '/api/v1/fault')
    expect(answer.text).not.toContain('hunter2')
    const record = http.log.records.find((line) => line.level === 'ERROR')
    expect(String(record?.fields.error)).toContain('db.internal')
    expect(record?.fields.request_id).toBe(answer.headers['x-request-id'])
  })

  test('a connection of ours that breaks is a fault, however much it looks like a client that left', async () => {
    const handle = () => {
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    }
    await using http = await startHttp({ routes: [route({ ...open, method: 'GET', path: '/broken', handle })] })
    expect((await http.request('GET', '/api/v1/broken')).status).toBe(500)
    expect(http.log.records.map((line) => line.level)).toContain('ERROR')
  })

  test('in tests a reply that breaks its own schema is a fault', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    expect((await http.request('GET', '/api/v1/lies')).status).toBe(500)
  })

  test('a body of another type than JSON is refused', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request('POST', '/api/v1/notes', {
      headers: { 'content-type': 'text/xml' },
      body: '<a/>',
    })
    expect([answer.status, answer.json]).toMatchObject([415, { code: 'unsupported_media_type' }])
  })
})

describe('input validation', () => {
  const post = async (body: string) => {
    await using http = await startHttp({ routes: noteRoutes })
    return await http.request('POST', '/api/v1/notes', { headers: { 'content-type': 'application/json' }, body })
  }

  test.each([
    ['{}', { type: 'missing', loc: ['body', 'title'], msg: 'Field required' }],
    ['{"title":7}', { type: 'string_type', loc: ['body', 'title'], msg: 'Input should be a valid string' }],
    ['{"title":""}', { type: 'too_short', loc: ['body', 'title'] }],
    ['{"title":"a","stars":9}', { type: 'less_than_equal', loc: ['body', 'stars'], ctx: { le: 5 } }],
    ['{"title":"a","stars":-1}', { type: 'greater_than_equal', loc: ['body', 'stars'], ctx: { ge: 0 } }],
    ['{"title":"a","stars":1.5}', { type: 'int_parsing', loc: ['body', 'stars'] }],
    ['"text"', { type: 'object_type', loc: ['body'] }],
    ['', { type: 'missing', loc: ['body'], msg: 'Field required' }],
  ])('%s is answered with 422 and the place of the problem', async (body, problem) => {
    const answer = await post(body)
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({ code: 'invalid_request', detail: [problem] })
  })

  test('a NUL character is refused wherever it stands, and text about it is not', async () => {
    const escaped = String.raw`\u0000`
    const answer = await post(`{"title":"a${escaped}b"}`)
    expect([answer.status, answer.json]).toMatchObject([422, { detail: [{ type: 'value_error', loc: ['body'] }] }])
    expect((await post(`{"title":"a\\\\${escaped}b"}`)).status).toBe(422)
    expect((await post(`{"title":"a\\${escaped}b"}`)).status).toBe(200)
    await using http = await startHttp({ routes: [] })
    for (const path of ['/api/v1/a%00b', '/api/v1/a?q=%00']) expect((await http.request('GET', path)).status).toBe(400)
  })

  test('malformed JSON is 422 and named as such', async () => {
    const answer = await post('{"title": oops}')
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({
      detail: [{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error' }],
    })
  })

  test('a body that tries to change prototypes is refused', async () => {
    expect((await post('{"title":"a","__proto__":{"admin":true}}')).status).toBe(422)
  })

  test('a value from the body is never sent back, because it may be a password', async () => {
    expect((await post('{"title":{"password":"hunter2"}}')).text).not.toContain('hunter2')
  })

  test('unknown keys are ignored', async () => {
    expect((await post('{"title":"a","colour":"red"}')).status).toBe(200)
  })

  test('a query out of bounds is 422 with what was sent', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request('GET', '/api/v1/notes/1?limit=900')
    expect(answer.json).toMatchObject({ detail: [{ type: 'less_than_equal', loc: ['query', 'limit'], input: '900' }] })
  })
})

describe('who may call', () => {
  const rows = [
    route({
      ...open,
      method: 'POST',
      path: '/workspaces/:id',
      needs: { permission: 'edit-workspace', on: '/workspaces/:id' },
      params: z.object({ id: z.string() }),
      body: Note,
      reply: z.object({ by: z.string() }),
      handle: ({ caller }) => ({ by: caller.email }),
    }),
    route({
      ...open,
      method: 'GET',
      path: '/greeting',
      needs: 'anyone, better signed in',
      reply: z.object({ hello: z.string() }),
      handle: ({ caller }) => ({ hello: caller?.email ?? 'stranger' }),
    }),
  ]
  const ann: Caller = { userId: '1', email: 'ann@example.com', sessionId: '2', groupIds: new Set() }
  const guard: Guard = {
    async identify({ bearerToken }) {
      if (bearerToken === 'bad') throw new AppError('not_authenticated', 'Invalid token')
      return bearerToken === 'ann' ? ann : null
    },
    async authorize(_, need) {
      if (need.on !== '/workspaces/7') throw new AppError('permission_denied', 'Permission denied')
    },
  }
  const headers = (token?: string) => ({
    'content-type': 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  })

  test.each([
    ['malformed JSON comes first', undefined, '/api/v1/workspaces/8', '{', 422],
    ['then the sign-in', undefined, '/api/v1/workspaces/8', '{}', 401],
    ['a bad token is 401 as well', 'bad', '/api/v1/workspaces/8', '{}', 401],
    ['then the permission, on the resource of this request', 'ann', '/api/v1/workspaces/8', '{}', 403],
    ['then the input', 'ann', '/api/v1/workspaces/7', '{}', 422],
    ['then the handler', 'ann', '/api/v1/workspaces/7', '{"title":"a"}', 200],
  ])('%s', async (_, token, path, body, status) => {
    await using http = await startHttp({ routes: rows, guard })
    expect((await http.request('POST', path, { headers: headers(token), body })).status).toBe(status)
  })

  test('a route that is better signed in greets both', async () => {
    await using http = await startHttp({ routes: rows, guard })
    expect((await http.request('GET', '/api/v1/greeting')).json).toEqual({ hello: 'stranger' })
    const signedIn = await http.request('GET', '/api/v1/greeting', { headers: headers('ann') })
    expect(signedIn.json).toEqual({ hello: 'ann@example.com' })
  })

  test('a 401 says how to authenticate', async () => {
    await using http = await startHttp({ routes: rows, guard })
    const answer = await http.request('POST', '/api/v1/workspaces/7')
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  test("an id that is a path of its own asks for nobody's permission", async () => {
    await using http = await startHttp({ routes: rows, guard })
    for (const id of ['7%2Fx', '..%2F7', '%2E%2E']) {
      const answer = await http.request('POST', `/api/v1/workspaces/${id}`, { headers: headers('ann'), body: '{}' })
      expect(answer.status, id).toBe(404)
    }
  })

  test('a row that names a parameter its path does not have is refused at start', async () => {
    const wrong = route({
      ...open,
      method: 'GET',
      path: '/workspaces/:id',
      needs: { permission: 'view', on: '/workspaces/:name' },
      handle: () => ({ ok: true }),
    })
    await expect(startHttp({ routes: [wrong] })).rejects.toThrow('has no :name')
  })

  const operatorRow = route({
    ...open,
    method: 'GET',
    path: '/inside',
    needs: 'operator',
    handle: () => ({ ok: true }),
  })
  const metricsToken = { reveal: () => 'a-long-operator-token' }
  test.each([
    ['a peer on this machine', {}, 200],
    ['a stranger behind a proxy', { 'x-forwarded-for': '203.0.113.9' }, 403],
    [
      'a stranger with the token',
      { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer a-long-operator-token' },
      200,
    ],
    ['a stranger behind a proxy that hides him', { 'x-forwarded-for': '203.0.113.9, unknown' }, 403],
    ['a page of another site that points its name here', { host: 'evil.example' }, 403],
    ['a stranger with another token', { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer guess' }, 403],
  ])('operator routes: %s gets %i', async (_, sent, status) => {
    await using http = await startHttp({ routes: [operatorRow], settings: { metricsToken } })
    expect((await http.request('GET', '/api/v1/inside', { headers: sent })).status).toBe(status)
  })

  test('operator routes: a proxy is nobody on this machine, even when its headers do not count', async () => {
    await using http = await startHttp({ routes: [operatorRow], settings: { rejectProxyHeaders: true } })
    const answer = await http.request('GET', '/api/v1/inside', { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(answer.status).toBe(403)
  })

  test('operator routes: without a token setting, an empty bearer opens nothing', async () => {
    await using http = await startHttp({ routes: [operatorRow] })
    const sent = { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer undefined' }
    expect((await http.request('GET', '/api/v1/inside', { headers: sent })).status).toBe(403)
  })
})

describe('the rate limit of the API', () => {
  test('the request after the limit gets 429 and when to come back; a new minute starts afresh', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 2 } })
    const ask = () => http.request('GET', '/api/v1/notes')
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
    http.clock.advance(20_000)
    const refused = await ask()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '40'])
    expect(refused.json).toMatchObject({ detail: 'Too many requests; retry later', code: 'rate_limited' })
    http.clock.advance(40_000)
    expect((await ask()).status).toBe(200)
  })

  test('counts each client on its own, and nothing outside /api', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 1 } })
    const from = (address: string, path = '/api/v1/notes') =>
      http.request('GET', path, { headers: { 'x-forwarded-for': address } })
    expect((await from('203.0.113.1')).status).toBe(200)
    expect((await from('203.0.113.2')).status).toBe(200)
    expect((await from('203.0.113.1')).status).toBe(429)
    expect((await from('203.0.113.1', '/plain')).status).toBe(200)
  })

  test.each(['/%61pi/v1/notes', 'http://other.example/api/v1/notes', '/api/%zz', '/api/v1/nothing'])(
    '%s is counted, however it is written',
    async (path) => {
      await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 1 } })
      const first = await http.request('GET', path)
      expect(first.status).not.toBe(429)
      expect(first.headers['cache-control']).toBe('no-store')
      expect((await http.request('GET', path)).status).toBe(429)
    },
  )

  test('the neighbours of one IPv6 network share a count', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 1 } })
    const from = (address: string) => http.request('GET', '/api/v1/notes', { headers: { 'x-forwarded-for': address } })
    expect((await from('2001:db8:1:2::1')).status).toBe(200)
    expect((await from('2001:db8:1:2:ffff::2')).status).toBe(429)
    expect((await from('2001:db8:1:3::1')).status).toBe(200)
  })

  test('one refusal per client and minute is logged', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 1 } })
    for (let i = 0; i < 5; i++) await http.request('GET', '/api/v1/notes')
    expect(http.log.records.filter((line) => line.level === 'WARNING')).toHaveLength(1)
  })

  test('a changed setting counts at once', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { apiRateLimit: 1 } })
    await http.request('GET', '/api/v1/notes')
    expect((await http.request('GET', '/api/v1/notes')).status).toBe(429)
    http.set({ apiRateLimit: 0 })
    expect((await http.request('GET', '/api/v1/notes')).status).toBe(200)
  })
})

describe('headers', () => {
  test('every answer is hardened, and the API is never stored', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    for (const path of ['/api/v1/notes', '/api/v1/fault', '/api/v1/nothing', '/plain']) {
      expect((await http.request('GET', path)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      })
    }
  })

  test('large text is compressed for those who can read it', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const packed = await http.request('GET', '/api/v1/large', { headers: { 'accept-encoding': 'gzip' } })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect((await http.request('GET', '/api/v1/large')).headers['content-encoding']).toBeUndefined()
    const small = await http.request('GET', '/api/v1/notes', { headers: { 'accept-encoding': 'gzip' } })
    expect(small.headers['content-encoding']).toBeUndefined()
  })

  const page = 'https://tools.example.com'
  const preflight = { origin: page, 'access-control-request-method': 'POST' }

  test('a listed origin may read answers, and its preflight is answered before the rate limit counts it', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { corsOrigins: [page], apiRateLimit: 1 } })
    for (let i = 0; i < 3; i++) {
      const answer = await http.request('OPTIONS', '/api/v1/notes', { headers: preflight })
      expect(answer.status).toBe(204)
      expect(answer.headers['access-control-allow-origin']).toBe(page)
      expect(answer.headers['access-control-allow-headers']).toContain('DPoP')
    }
    const answer = await http.request('GET', '/api/v1/notes', { headers: { origin: page } })
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': page, 'cache-control': 'no-store' })
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test('without a list, the address people reach the server at may read answers, whatever path is below it', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { hostingProto: 'https' } })
    http.set({ hostingHostname: 'dev.example.com', hostingBasePath: '/svc' })
    const answer = await http.request('GET', '/api/v1/notes', { headers: { origin: 'https://dev.example.com' } })
    expect(answer.headers['access-control-allow-origin']).toBe('https://dev.example.com')
  })

  test('any other origin gets no permission', async () => {
    await using http = await startHttp({ routes: noteRoutes, settings: { corsOrigins: [page] } })
    for (const origin of ['https://evil.example.com', 'null', `${page}.evil.example`]) {
      const answer = await http.request('OPTIONS', '/api/v1/notes', { headers: { ...preflight, origin } })
      expect(answer.headers['access-control-allow-origin']).toBeUndefined()
    }
  })
})

describe('the access log', () => {
  test('has a line for each request, with its id and without its query', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const answer = await http.request('GET', '/api/v1/notes/1?token=eyJhbGciOi')
    await expect.poll(() => http.log.records.filter((line) => line.logger === 'access')).toHaveLength(1)
    const [line] = http.log.records.filter((record) => record.logger === 'access')
    expect(line?.message).toBe('GET /api/v1/notes/1 200')
    expect(line?.fields).toMatchObject({ client: '127.0.0.1', request_id: answer.headers['x-request-id'] })
    expect(JSON.stringify(http.log.records)).not.toContain('eyJ')
  })

  test('a client that goes away before its answer is noted as such', async () => {
    let asked = 0
    const handle = () => {
      asked++
      return new Promise<never>(() => undefined)
    }
    const slow = route({ ...open, method: 'GET', path: '/slow', handle })
    await using http = await startHttp({ routes: [slow] })
    const controller = new AbortController()
    const answer = fetch(`${http.url}/api/v1/slow`, { signal: controller.signal })
    await expect.poll(() => asked).toBe(1)
    controller.abort()
    await expect(answer).rejects.toThrow()
    await expect.poll(() => http.log.records.map((line) => line.message)).toEqual(['GET /api/v1/slow aborted'])
    expect(http.log.records[0]?.fields.client).toBe('127.0.0.1')
  })

  test('a client that hangs up while it sends is no fault of ours', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    const socket = connect(Number(new URL(http.url).port), '127.0.0.1')
    socket.write('POST /api/v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n')
    socket.write('Content-Length: 9\r\nExpect: 100-continue\r\n\r\n')
    await once(socket, 'data') // the server waits for the body
    socket.destroy()
    await expect.poll(() => http.log.records.map((line) => line.message)).toEqual(['POST /api/v1/notes aborted'])
    expect(http.log.records.map((line) => line.level)).toEqual(['INFO'])
  })

  test('an address nobody can read is noted too', async () => {
    await using http = await startHttp({ routes: noteRoutes })
    await http.request('GET', '/api/v1/%zz')
    await expect.poll(() => http.log.records.map((line) => line.message)).toEqual(['GET /api/v1/%zz 400'])
  })
})
