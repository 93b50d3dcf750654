import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import { type AccountsServer, field, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { startApp } from '../../testing/start-hosted.ts'
import type { TestResponse } from '../../testing/start-http.ts'

// On the local engine a port of the host is a port of the workspace: the test itself listens on it.

/** Not where everybody begins: an engine on this machine may lead those ports elsewhere. */
const PORTS = {
  SVCD_HOSTED_PORTS_PER_WORKSPACE: '2',
  SVCD_IDLE_TIMEOUT_SECONDS: '0', // the clock is moved by hours
  SVCD_ACCESS_TOKEN_HOURS: '1',
  SVCD_PORT_RANGE_START: String(20_000 + (process.pid % 5_000)),
}

let server: AccountsServer
let ann: Person
let sam: Person
let eve: Person
let id: string
let other: string
let port: number
let otherPort: number
let app: Awaited<ReturnType<typeof startApp>>

const portsOf = async (workspaceId: string): Promise<number[]> => {
  const { json } = await succeed(ann.get(`/workspaces/${workspaceId}/status`))
  return Reflect.get(Object(json), 'ports')
}

beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine, env: PORTS })
  ann = await server.person('ann')
  sam = await server.person('sam')
  eve = await server.person('eve')
  id = await makeWorkspace(ann)
  other = await makeWorkspace(ann)
  for (const one of [id, other]) await succeed(ann.post(`/workspaces/${one}/start`))
  await succeed(ann.post(`/workspaces/${id}/roles/spectators`, { email: 'sam' }))
  await succeed(ann.post(`/workspaces/${other}/members`, { email: 'eve' }))
  port = (await portsOf(id))[0] ?? 0
  otherPort = (await portsOf(other))[0] ?? 0
  app = await startApp((request, response) => response.end(`${request.method} ${request.url}`), port)
}, 60_000)
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await app?.[Symbol.asyncDispose]()
})

const path = (workspaceId = id, hostPort = port) => `/hosted/${workspaceId}/${hostPort}/`
const visit = (url: string, headers: Record<string, string> = {}) => server.request('GET', url, { headers })
const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` })

/** The cookie that the route gives a person. */
async function cookieOf(person: Pick<Person, 'post'>, workspaceId = id): Promise<{ cookie: string }> {
  const answer = await succeed(person.post(`/workspaces/${workspaceId}/hosted-access`))
  return { cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '' }
}

describe('who may use an application', () => {
  test.each<[string, () => Promise<Record<string, string>>, number]>([
    ['nobody in particular', async () => ({}), 401],
    ['somebody without any right, by token', async () => bearer(eve), 403],
    ['a spectator, by token', async () => bearer(sam), 200],
    ['the owner, by token', async () => bearer(ann), 200],
    ['an administrator, who was given nothing', async () => bearer(server.admin), 403],
    ['a spectator, by cookie', () => cookieOf(sam), 200],
    ['the owner, by cookie', () => cookieOf(ann), 200],
    ['by a cookie of another workspace', () => cookieOf(ann, other), 401],
    ['by a cookie that is none', async () => ({ cookie: 'svc-hosted=x.y.z' }), 401],
    ['by a token in the place of the cookie', async () => ({ cookie: `svc-hosted=${ann.token}` }), 401],
    ['by a token that is none', async () => ({ authorization: 'Bearer nonsense' }), 401],
    [
      'by a cookie, beside a token of the application’s own',
      async () => ({ ...(await cookieOf(ann)), authorization: 'Bearer theirs' }),
      200,
    ],
    [
      'by a cookie that a page elsewhere makes the browser send',
      async () => ({ ...(await cookieOf(ann)), origin: 'https://evil.example' }),
      401,
    ],
  ])('%s', async (_, headers, status) => {
    expect((await visit(path(), await headers())).status).toBe(status)
  })

  test('a person without access gets a page, and it says where to go', async () => {
    const page = await visit(path(), { accept: 'text/html' })
    expect([page.status, page.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8'])
    expect(page.text).toContain('open the application from the page of its workspace')
    expect((await visit(path(), { accept: '*/*' })).json).toMatchObject({ code: 'not_authenticated' })
  })

  test('a cookie lasts a quarter of an hour, and can be had again', async () => {
    const person = await server.signIn(ann.email, ann.password)
    const cookie = await cookieOf(person)
    server.clock.advance(14 * 60_000)
    expect((await visit(path(), cookie)).status).toBe(200)
    server.clock.advance(2 * 60_000)
    expect((await visit(path(), cookie)).status).toBe(401)
    expect((await visit(path(), await cookieOf(person))).status).toBe(200)
  })

  test('it ends with the session, and outlives a refresh of its token', async () => {
    const person = await server.signIn(sam.email, sam.password)
    const cookie = await cookieOf(person)
    const fresh = server.as(field(await succeed(person.post('/auth/refresh')), 'access_token'))
    expect((await visit(path(), cookie)).status).toBe(200)
    await succeed(fresh.post('/auth/logout'))
    expect((await visit(path(), cookie)).status).toBe(401)
  })

  test('it ends with the right, and with the account', async () => {
    const max = await server.person('max')
    await succeed(ann.post(`/workspaces/${id}/members`, { email: 'max' }))
    const cookie = await cookieOf(max)
    expect((await visit(path(), cookie)).status).toBe(200)
    await succeed(ann.delete(`/workspaces/${id}/members/${max.id}`))
    expect((await visit(path(), cookie)).status).toBe(403)
    await succeed(ann.post(`/workspaces/${id}/members`, { email: 'max' }))
    expect((await visit(path(), cookie)).status).toBe(200)
    await succeed(server.admin.patch(`/users/${max.id}`, { disabled: true }))
    expect((await visit(path(), cookie)).status).toBe(403)
  })

  test('the route is for those who may join, and not for stopped hosting', async () => {
    expect((await eve.post(`/workspaces/${id}/hosted-access`)).status).toBe(403)
    await server.reconfigure({ SVCD_HOSTED_PORTS_PER_WORKSPACE: '0' })
    expect((await ann.post(`/workspaces/${id}/hosted-access`)).status).toBe(404)
    await server.reconfigure({})
  })
})

describe('only ports of the workspace itself are reached', () => {
  const outcome = ({ status, text }: TestResponse) => [status, text.replace(/"request_id":"[^"]*"/, '')]

  test('all others are the same nothing to whoever may join, and the same refusal to everybody else', async () => {
    const unknown = crypto.randomUUID()
    const free = await startApp((_, response) => response.end('a service of the host'))
    await using _ = free
    const urls = [path(id, otherPort), path(id, free.port), path(id, server.port), path(id, 22)]
    for (const url of urls)
      expect(outcome(await visit(url, bearer(ann)))).toEqual([404, expect.stringContaining('Not Found')])
    for (const url of [...urls, path(), path(unknown)]) expect((await visit(url)).status).toBe(401)
    for (const url of [...urls, path(), path(unknown)]) expect((await visit(url, bearer(eve))).status).toBe(403)
  })

  test('nothing at all where hosting is off', async () => {
    await server.reconfigure({ SVCD_HOSTED_PORTS_PER_WORKSPACE: '0' })
    for (const headers of [{}, bearer(ann), bearer(eve)]) expect((await visit(path(), headers)).status).toBe(404)
    expect((await visit(`/hosted/${id}/${port}`)).status).toBe(404)
    await server.reconfigure({})
    expect((await visit(path(), bearer(ann))).status).toBe(200)
  })

  test('a stopped workspace says so, to those who may join it', async () => {
    await succeed(ann.post(`/workspaces/${other}/stop`))
    const url = path(other, otherPort)
    expect(outcome(await visit(url, bearer(ann)))).toEqual([409, expect.stringContaining('container_not_running')])
    expect((await visit(path(other, port), bearer(ann))).status).toBe(404)
    expect((await visit(url, bearer(sam))).status).toBe(403)
    expect((await visit(url)).status).toBe(401)
    await succeed(ann.post(`/workspaces/${other}/start`))
    expect(outcome(await visit(url, bearer(ann)))).toEqual([502, expect.stringContaining(`port ${otherPort}`)])
  })
})

describe('a workspace whose applications are public', () => {
  beforeEach(() => succeed(ann.put(`/workspaces/${id}`, { hosted_public: true })))
  afterEach(() => succeed(ann.put(`/workspaces/${id}`, { hosted_public: false })))

  test('lets everybody in, and no longer once that is taken back', async () => {
    for (const headers of [{}, bearer(eve), { cookie: 'svc-hosted=x' }, { origin: 'https://evil.example' }])
      expect((await visit(path(), headers)).status).toBe(200)
    expect((await visit(path(id, otherPort))).status).toBe(404)
    await succeed(ann.put(`/workspaces/${id}`, { hosted_public: false }))
    expect((await visit(path())).status).toBe(401)
  })

  test('is not made so by somebody who may only join', async () => {
    expect((await sam.put(`/workspaces/${id}`, { hosted_public: true })).status).toBe(403)
  })
})

describe('in a browser', () => {
  test('the route tells where to go: to a host that the application has for itself', async () => {
    const answer = await succeed(ann.post(`/workspaces/${id}/hosted-access`))
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    expect(cookie).toMatch(
      new RegExp(`^svc-hosted=[\\w.-]+; Path=/hosted/${id}/; Max-Age=900; HttpOnly; SameSite=Lax$`),
    )
    const [first, second] = await portsOf(id)
    expect(answer.json).toEqual({
      url_prefix: `http://127.0.0.1:${server.port}/hosted/${id}/`,
      expires_in: 900,
      public: false,
      ports: [first, second].map((hostPort) => ({
        port: hostPort,
        container_port: hostPort,
        url: expect.stringMatching(
          new RegExp(`^http://${id}.localhost:${server.port}/hosted/${id}/${hostPort}/\\?svc-hosted-entry=[\\w.-]+$`),
        ),
      })),
    })
  })

  const entryFor = async (person: Pick<Person, 'post'>) => {
    const { json } = await succeed(person.post(`/workspaces/${id}/hosted-access`))
    const url = new URL(Reflect.get(Object(json), 'ports')[0].url)
    return { host: url.host, url: `${url.pathname}${url.search}` }
  }

  test('there the address gives the cookie once, and is clean afterwards', async () => {
    const { host, url } = await entryFor(ann)
    const first = await visit(url, { host })
    expect([first.status, first.headers.location]).toEqual([303, path()])
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
    const page = await visit(path(), { host, cookie })
    expect([page.status, page.text]).toEqual([200, 'GET /'])
    expect(page.headers['content-security-policy']).toBeUndefined()
    const again = await visit(url, { host })
    expect([again.status, again.headers['set-cookie']]).toEqual([303, undefined])
  })

  test('an entry that is a minute old, or of another workspace, gives nothing', async () => {
    const late = await entryFor(ann)
    server.clock.advance(61_000)
    expect((await visit(late.url, { host: late.host })).headers['set-cookie']).toBeUndefined()
    const { url } = await entryFor(ann)
    const elsewhere = url.replaceAll(id, other)
    const answer = await visit(elsewhere, { host: `${other}.localhost` })
    expect([answer.status, answer.headers['set-cookie']]).toEqual([303, undefined])
  })

  test('who goes to the plain address is led to the host of the application', async () => {
    const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }
    const answer = await visit(`${path()}a?b=c`, { ...(await cookieOf(ann)), ...navigation })
    expect(answer.status).toBe(302)
    expect(answer.headers.location).toMatch(
      new RegExp(`^http://${id}.localhost:${server.port}${path()}a\\?b=c&svc-hosted-entry=`),
    )
    const target = new URL(answer.headers.location ?? '')
    const entered = await visit(`${target.pathname}${target.search}`, { host: target.host })
    expect([entered.status, entered.headers.location]).toEqual([303, `${path()}a?b=c`])
    expect(entered.headers['set-cookie']).toHaveLength(1)
  })

  test('at the host of an application there is nothing but applications', async () => {
    for (const url of ['/', '/api/v1/version', '/health'])
      expect((await visit(url, { host: `${id}.localhost:${server.port}` })).status).toBe(404)
  })

  test('behind https, below a path and with a name of its own for applications', async () => {
    await server.reconfigure({
      SVCD_HOSTING_HOSTNAME: 'svc.example.com',
      SVCD_HOSTING_PROTO: 'https',
      SVCD_HOSTING_BASE_PATH: '/base',
      SVCD_HOSTED_APPS_HOSTNAME: '*.apps.example.com',
    })
    const answer = await succeed(ann.post(`/workspaces/${id}/hosted-access`))
    expect(answer.headers['set-cookie']?.[0]).toMatch(/; Path=\/base\/hosted\/[\w-]+\/; .*; Secure$/)
    expect(answer.json).toMatchObject({
      url_prefix: `https://svc.example.com/base/hosted/${id}/`,
      ports: [{ url: expect.stringContaining(`https://${id}.apps.example.com/base/hosted/${id}/${port}/?`) }, {}],
    })
    expect((await visit(`/hosted/${id}/${port}?a`)).headers.location).toBe(`/base/hosted/${id}/${port}/?a`)
    const shared = await visit(path(), { ...bearer(ann), host: 'svc.example.com' })
    expect(shared.headers['content-security-policy']).toContain('sandbox')
    const apart = await visit(path(), { ...bearer(ann), host: `${id}.apps.example.com` })
    expect(apart.headers['content-security-policy']).toBeUndefined()
    await server.reconfigure({})
  })
})

describe('what is under way', () => {
  test('counts as use of the workspace', async () => {
    const idle = async () =>
      Reflect.get(Object((await succeed(ann.get(`/workspaces/${id}/status`))).json), 'idle_seconds')
    server.clock.advance(30_000)
    expect(await idle()).toBeGreaterThan(29)
    await visit(path(), bearer(ann))
    expect(await idle()).toBe(0)
  })

  async function startEcho() {
    const sockets = new WebSocketServer({ server: app.app })
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))))
    const open = async (headers: Record<string, string>) => {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path()}`, { headers })
      await once(socket, 'open')
      socket.send('hello')
      expect(String((await once(socket, 'message'))[0])).toBe('hello')
      return { socket, closed: once(socket, 'close') }
    }
    return { open, [Symbol.dispose]: () => sockets.close() }
  }

  test('a socket is closed when the right, the session or the account goes', async () => {
    using echo = await startEcho()
    const lea = await server.person('lea')
    await succeed(ann.post(`/workspaces/${id}/members`, { email: 'lea' }))
    const [byCookie, byToken] = [await echo.open(await cookieOf(lea)), await echo.open(bearer(lea))]
    const bystander = await echo.open(bearer(ann))
    await succeed(ann.delete(`/workspaces/${id}/members/${lea.id}`))
    await Promise.all([byCookie.closed, byToken.closed])

    await succeed(ann.post(`/workspaces/${id}/members`, { email: 'lea' }))
    const second = await server.signIn(lea.email, lea.password)
    const [first, leaving] = [await echo.open(bearer(lea)), await echo.open(await cookieOf(second))]
    await succeed(second.post('/auth/logout'))
    await leaving.closed
    expect(first.socket.readyState).toBe(WebSocket.OPEN)
    await succeed(server.admin.patch(`/users/${lea.id}`, { disabled: true }))
    await first.closed
    expect(bystander.socket.readyState).toBe(WebSocket.OPEN)
    bystander.socket.close()
    await bystander.closed
  })

  test('a socket is closed when an entry further up no longer gives the right', async () => {
    using echo = await startEcho()
    const kim = await server.person('kim')
    const above = '/acl/resource?resource=/workspaces'
    const entries = (await succeed(server.admin.get(above))).json as object[]
    const allow = { action: 1, principal_type: 1, user_id: kim.id, permission: 'join-workspace' }
    await succeed(server.admin.put(above, [allow, ...entries]))
    const { closed } = await echo.open(bearer(kim))
    await succeed(server.admin.put(above, entries))
    await closed
  })

  test('a socket of a visitor is closed when the workspace is no longer public', async () => {
    using echo = await startEcho()
    await succeed(ann.put(`/workspaces/${id}`, { hosted_public: true }))
    const { closed } = await echo.open({})
    await succeed(ann.put(`/workspaces/${id}`, { hosted_public: false }))
    await closed
  })

  test('a socket is closed when the time of its session is over', async () => {
    using echo = await startEcho()
    const person = await server.signIn(ann.email, ann.password)
    const { closed } = await echo.open(bearer(person))
    server.clock.advance(61 * 60_000)
    await closed
    ann = await server.signIn(ann.email, ann.password)
  })

  test('one workspace cannot have more than 512 connections', async () => {
    const waiting: IncomingMessage[] = []
    await using slow = await startApp((request) => waiting.push(request), (await portsOf(id))[1])
    const requests = Array.from({ length: 512 }, () => {
      const request = httpRequest({ agent: false, port: server.port, path: path(id, slow.port), headers: bearer(ann) })
      request.on('error', () => undefined)
      return request.end()
    })
    await expect.poll(() => waiting.length, { timeout: 20_000 }).toBe(512)
    const refused = await visit(path(), bearer(ann))
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5'])
    for (const request of requests) request.destroy()
    await expect.poll(async () => (await visit(path(), bearer(ann))).status).toBe(200)
  })
})
