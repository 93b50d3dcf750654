import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HOSTED_WORKSPACE, startHosted } from '../../testing/start-hosted.ts'

/** Tells what it was asked. */
const mirror = async (request: IncomingMessage, response: import('node:http').ServerResponse) => {
  const body = await text(request)
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }))
}

/** Bytes as they are written. Everything that came back until the connection was closed. */
async function raw(port: number, lines: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(lines)
  return text(socket)
}

function openRaw(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

describe('a request to an application', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT', 'QUERY'])(
    '%s reaches it with path, query and body',
    async (method) => {
      await using hosted = await startHosted(mirror)
      const answer = await hosted.request(method, '/a%2Fb/../c?d=%20e&f', { body: 'hello' })
      expect(answer.json).toMatchObject({ method, url: '/a%2Fb/../c?d=%20e&f', body: 'hello' })
      expect(hosted.finished).toHaveLength(1)
      expect(hosted.log.records.map(({ message }) => message).join()).not.toContain('d=')
    },
  )

  test('HEAD is answered with the headers alone', async () => {
    await using hosted = await startHosted((_, response) => response.setHeader('content-length', 5).end('hello'))
    const answer = await hosted.request('HEAD', '/')
    expect([answer.status, answer.headers['content-length'], answer.text]).toEqual([200, '5', ''])
  })

  test('a POST without a body has none', async () => {
    await using hosted = await startHosted(mirror)
    const answer = await raw(hosted.port, `POST ${hosted.prefix}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(answer).toContain('"content-length":"0"')
    expect(answer).not.toContain('transfer-encoding":')
  })

  test('without the slash it is sent to where the slash is, query kept', async () => {
    await using hosted = await startHosted(mirror, { hostingBasePath: '/base' })
    const answer = await hosted.request('POST', '?a=b')
    expect([answer.status, answer.headers.location]).toEqual([308, `/base${hosted.prefix}/?a=b`])
    expect(hosted.counts.open).toBe(0)
  })

  test('what is between neighbours stays there, what a stranger says for a proxy is dropped', async () => {
    await using hosted = await startHosted(mirror, { trustedProxyCidrs: [] })
    const { json } = await hosted.request('GET', '/', {
      headers: {
        connection: 'close, x-mine',
        'x-mine': '1',
        'keep-alive': 'timeout=5',
        te: 'trailers',
        'proxy-authorization': 'Basic x',
        'x-forwarded-for': '6.6.6.6',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-anything': 'x',
        forwarded: 'for=6.6.6.6',
        'x-real-ip': '6.6.6.6',
        'x-kept': 'yes',
        host: 'Some.Host:123',
      },
    })
    expect((json as { headers: object }).headers).toEqual({
      host: 'Some.Host:123',
      connection: 'keep-alive',
      'x-kept': 'yes',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'some.host:123',
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': hosted.prefix,
    })
  })

  test('a trusted proxy is believed about who asks, and where', async () => {
    await using hosted = await startHosted(mirror)
    const { json } = await hosted.request('GET', '/', {
      headers: {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-host': 'Public.example',
        'x-forwarded-proto': 'https',
        'x-forwarded-prefix': '/svc',
      },
    })
    expect(json).toMatchObject({
      headers: {
        'x-forwarded-for': '203.0.113.9',
        'x-forwarded-host': 'public.example',
        'x-forwarded-proto': 'https',
        'x-forwarded-prefix': `/svc${hosted.prefix}`,
      },
    })
  })

  test('it never sees our cookie and our token, and gets everything else', async () => {
    await using hosted = await startHosted(mirror)
    const seen = async (headers: Record<string, string>) => {
      const { json } = await hosted.request('GET', '/', { headers })
      const { cookie, authorization } = (json as { headers: Record<string, string> }).headers
      return { cookie, authorization }
    }
    expect(await seen({ cookie: 'a=1; svc-hosted=x; b=2', authorization: 'Bearer ours' })).toEqual({
      cookie: 'a=1; b=2',
    })
    expect(await seen({ cookie: 'svc-hosted=x', authorization: 'Bearer theirs' })).toEqual({
      authorization: 'Bearer theirs',
    })
    expect(await seen({ authorization: 'Basic b3Vycw==' })).toEqual({ authorization: 'Basic b3Vycw==' })
    expect(hosted.visits[0]).toMatchObject({ tokens: ['ours'], cookies: ['x'] })
  })

  test('it does not see our token where a proxy left of a handshake only the protocols, nor behind another one', async () => {
    await using hosted = await startHosted(mirror)
    const answer = await hosted.request('GET', '/', { headers: { 'sec-websocket-protocol': 'bearer, ours, chat' } })
    expect(answer.json).toMatchObject({ headers: { 'sec-websocket-protocol': 'chat' } })
    const twice = 'authorization: Basic eA==\r\nauthorization: Bearer ours\r\nconnection: close\r\n'
    const echo = await raw(hosted.port, `GET ${hosted.prefix}/ HTTP/1.1\r\nhost: x\r\n${twice}\r\n`)
    expect(echo).toContain('"authorization":"Basic eA=="')
    expect(echo).not.toContain('ours')
  })

  test('what a stranger says for a proxy is dropped, however it is written', async () => {
    await using hosted = await startHosted(mirror)
    const { text } = await hosted.request('GET', '/', { headers: { X_Forwarded_For: '9.9.9.9', X_REAL_IP: '9.9.9.9' } })
    expect(text).not.toContain('9.9.9.9')
  })

  test('a length said in two ways is refused before it gets anywhere', async () => {
    await using hosted = await startHosted(mirror)
    const head = `POST ${hosted.prefix}/ HTTP/1.1\r\nhost: x\r\n`
    const both = 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n'
    expect(await raw(hosted.port, head + both)).toMatch(/^HTTP\/1.1 400 /)
    expect(await raw(hosted.port, `${head}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`)).toMatch(
      /^HTTP\/1.1 400 /,
    )
    expect(hosted.visits).toEqual([])
  })

  test('a line break hidden in an address adds no header', async () => {
    await using hosted = await startHosted(mirror)
    const { json } = await hosted.request('GET', '/%0d%0aX-Evil:1?%0a')
    expect(json).toMatchObject({ url: '/%0d%0aX-Evil:1?%0a' })
    expect(Object.keys((json as { headers: object }).headers)).not.toContain('x-evil')
  })

  test('a body that the client asks leave for is taken', async () => {
    await using hosted = await startHosted(mirror)
    const request = httpRequest({
      agent: false,
      port: hosted.port,
      path: `${hosted.prefix}/`,
      method: 'PUT',
      headers: { expect: '100-continue' },
    })
    request.flushHeaders()
    await once(request, 'continue')
    request.end('after leave')
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect(JSON.parse(await text(answer))).toMatchObject({ body: 'after leave' })
  })
})

describe('the answer of an application', () => {
  test('keeps its status and headers, without those between neighbours and those for the whole host', async () => {
    await using hosted = await startHosted((_, response) => {
      response
        .writeHead(418, {
          connection: 'close, x-hop',
          'x-hop': '1',
          'x-own': 'yes',
          'x-frame-options': 'SAMEORIGIN',
          'clear-site-data': '"*"',
          'strict-transport-security': 'max-age=1',
          'service-worker-allowed': '/',
          'alt-svc': 'h2=":1"',
        })
        .end('teapot')
    })
    const { status, headers, text } = await hosted.request('GET', '/')
    expect([status, text]).toEqual([418, 'teapot'])
    expect(headers).toMatchObject({ 'x-own': 'yes', 'x-frame-options': 'SAMEORIGIN', 'referrer-policy': 'same-origin' })
    for (const name of ['x-hop', 'clear-site-data', 'strict-transport-security', 'service-worker-allowed', 'alt-svc'])
      expect(headers, name).not.toHaveProperty(name)
  })

  test('is confined where the web interface has the same host, whatever policy it has itself', async () => {
    const policy = "default-src 'self'"
    await using hosted = await startHosted((_, response) => response.setHeader('content-security-policy', policy).end())
    const sandbox = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads'
    const at = async (host: string) => (await hosted.request('GET', '/', { headers: { host } })).headers
    expect((await at('svc.example.com'))['content-security-policy']).toBe(`${policy}, ${sandbox}`)
    expect((await at(`${HOSTED_WORKSPACE}.localhost`))['content-security-policy']).toBe(policy)
    expect((await at('11111111-1111-4222-8333-444455556666.localhost'))['content-security-policy']).toContain('sandbox')
  })

  test('is kept by no cache between, unless everybody may see it', async () => {
    await using hosted = await startHosted((_, response) =>
      response.writeHead(200, { 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'max-age=60' }).end(),
    )
    const known = await hosted.request('GET', '/', { headers: { cookie: 'svc-hosted=x' } })
    expect(known.headers['cache-control']).toBe('private, max-age=60')
    expect(known.headers).not.toHaveProperty('cdn-cache-control')
    expect((await hosted.request('GET', '/')).headers['cache-control']).toBe('public, max-age=60')
  })

  test('keeps its headers to the byte', async () => {
    await using hosted = await startHosted((_, response) =>
      response.setHeader('x-name', Buffer.from('Zoë €').toString('latin1')).end(),
    )
    const { headers } = await hosted.request('GET', '/')
    expect(Buffer.from(String(headers['x-name']), 'latin1').toString()).toBe('Zoë €')
  })

  test('that goes over to another protocol unasked is none', async () => {
    await using hosted = await startHosted((request) =>
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    )
    expect((await hosted.request('GET', '/')).status).toBe(502)
    expect(hosted.counts.open).toBe(0)
  })

  test('sets cookies for its own addresses only', async () => {
    await using hosted = await startHosted((_, response) =>
      response.setHeader('set-cookie', ['a=1; Domain=example.com; Path=/', 'svc-hosted=mine; Path=/', 'b=2']).end(),
    )
    expect((await hosted.request('GET', '/')).headers['set-cookie']).toEqual([
      `a=1; Path=${hosted.prefix}/`,
      `b=2; Path=${hosted.prefix}/`,
    ])
  })

  test.each<[string, string]>([
    ['/login?a', 'PREFIX/login?a'],
    ['PREFIX/x', 'PREFIX/x'],
    ['PREFIX', 'PREFIX'],
    ['relative', 'relative'],
    ['http://127.0.0.1:PORT/x?y#z', 'PREFIX/x?y#z'],
    ['http://localhost:PORT/', 'PREFIX/'],
    ['http://svc.example.com/x', 'PREFIX/x'],
    ['https://elsewhere.example/x', 'https://elsewhere.example/x'],
    ['//elsewhere.example/x', '//elsewhere.example/x'],
    ['http://127.0.0.1:1/x', 'http://127.0.0.1:1/x'],
  ])('leads from %s to %s', async (given, expected) => {
    await using hosted = await startHosted((request, response) =>
      response.writeHead(302, { location: decodeURIComponent((request.url ?? '').slice(2)) }).end(),
    )
    const fill = (text: string) => text.replace('PREFIX', hosted.prefix).replace('PORT', String(hosted.hostPort))
    const query = encodeURIComponent(fill(given))
    const answer = await hosted.request('GET', `/?${query}`, { headers: { host: 'svc.example.com' } })
    expect(answer.headers.location).toBe(fill(expected))
  })
})

describe('where an application cannot be had', () => {
  test('a person gets a page without scripts that names the port, a program gets JSON', async () => {
    await using hosted = await startHosted(mirror)
    hosted.app.close()
    const page = await hosted.request('GET', '/', { headers: { accept: 'text/html,*/*' } })
    expect(page.status).toBe(502)
    expect(page.text).toContain('Nothing answers on port 8000 of the workspace')
    expect(page.text).not.toContain('<script')
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const program = await hosted.request('POST', '/', { body: 'x' })
    expect([program.status, program.json]).toMatchObject([502, { code: 'app_not_answering' }])
    expect(hosted.counts.open).toBe(0)
  })

  test('one that closes without an answer is told from one that answered', async () => {
    await using hosted = await startHosted((request) => request.socket.destroy())
    expect((await hosted.request('GET', '/')).status).toBe(502)
  })

  test('an application that breaks off in the middle leaves no whole answer', async () => {
    await using hosted = await startHosted((_, response) => {
      response.write('half')
      setImmediate(() => response.destroy())
    })
    await expect(hosted.request('GET', '/')).rejects.toThrow('aborted')
    await expect.poll(() => hosted.finished).toEqual(['GET /hosted 499'])
    expect(hosted.counts.open).toBe(0)
  })

  test('what is not an address of an application is not found, and what is not ours is left to others', async () => {
    await using hosted = await startHosted(mirror)
    const get = async (path: string, host = 'x') => {
      const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
      return (await raw(hosted.port, head)).split('\r\n')[0]
    }
    expect(await get('/hosted/x/1/')).toContain('404')
    expect(await get('/hosted')).toContain('404')
    expect(await get('/')).toContain('200')
    expect(await get('/', `${HOSTED_WORKSPACE}.localhost:80`)).toContain('404')
  })
})

describe('bodies', () => {
  test('come through as they are sent, in both directions at once', async () => {
    await using hosted = await startHosted((request, response) => request.pipe(response))
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/`, method: 'POST' })
    request.write('first')
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect(String((await once(answer, 'data'))[0])).toBe('first')
    request.write('second')
    expect(String((await once(answer, 'data'))[0])).toBe('second')
    request.end('third')
    expect(await text(answer)).toBe('third')
  })

  test('are held back by whoever is slow, and not kept here', async () => {
    const piece = Buffer.alloc(1024 * 1024)
    let produced = 0
    await using hosted = await startHosted((_, response) => {
      const more = () => {
        while (produced < 300) {
          produced++
          if (!response.write(piece)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/` }).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    // Nobody reads. What the kernel takes on three sockets is far less than all.
    let before = -1
    await expect
      .poll(
        () => {
          const isStill = produced === before
          before = produced
          return isStill
        },
        { interval: 300 },
      )
      .toBe(true)
    expect(produced).toBeLessThan(100)
    let received = 0
    for await (const chunk of answer) received += chunk.length
    expect(received).toBe(300 * piece.length)
  })

  test('200 MB each way leave no trace in memory', { timeout: 60_000 }, async () => {
    const piece = Buffer.alloc(256 * 1024, 7)
    const PIECES = 800
    await using hosted = await startHosted((request, response) => request.pipe(response))
    global.gc?.()
    const before = process.memoryUsage().rss
    let highest = 0
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/`, method: 'PUT' })
    const sent = (async () => {
      for (let n = 0; n < PIECES; n++) {
        if (!request.write(piece)) await once(request, 'drain')
        highest = Math.max(highest, process.memoryUsage().rss)
      }
      request.end()
    })()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    let received = 0
    for await (const chunk of answer) received += chunk.length
    await sent
    expect(received).toBe(PIECES * piece.length)
    expect(highest - before).toBeLessThan(120 * 1024 * 1024)
  })

  test('a client that goes away takes the request to the application with it', async () => {
    const gone = Promise.withResolvers<void>()
    await using hosted = await startHosted((request, response) => {
      response.write('x')
      request.socket.once('close', () => gone.resolve())
    })
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/` }).end()
    request.on('error', () => undefined)
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    answer.on('error', () => undefined)
    request.destroy()
    await gone.promise
    await expect.poll(() => hosted.counts.open).toBe(0)
  })

  test('a client that goes away before there is an answer does so too', async () => {
    const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using hosted = await startHosted((request) => {
      asked.resolve()
      request.socket.once('close', () => gone.resolve())
    })
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/`, method: 'POST' }).end(
      'question',
    )
    request.on('error', () => undefined)
    await asked.promise
    request.destroy()
    await expect.poll(() => hosted.counts.open).toBe(0)
    await gone.promise
  })

  test('an application may answer before it has heard everything', async () => {
    await using hosted = await startHosted((_, response) => response.writeHead(413).end('too much'))
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/`, method: 'POST' })
    request.on('error', () => undefined)
    request.write(Buffer.alloc(1024 * 1024))
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect([answer.statusCode, await text(answer)]).toEqual([413, 'too much'])
    request.destroy()
  })
})

describe('an exchange that stands still', () => {
  const begin = async (type: string) => {
    const hosted = await startHosted((_, response) =>
      response.writeHead(200, { 'content-type': type }).write('data: 1\n\n'),
    )
    const request = httpRequest({ agent: false, port: hosted.port, path: `${hosted.prefix}/` }).end()
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    await once(answer, 'data')
    onTestFinished(async () => {
      request.destroy()
      await hosted[Symbol.asyncDispose]()
    })
    let ended = false
    answer.on('error', () => undefined).on('close', () => (ended = true))
    return { hosted, ended: () => ended }
  }

  test('is ended after ten minutes', async () => {
    const { hosted, ended } = await begin('text/plain')
    hosted.clock.advance(9 * 60_000)
    expect(hosted.counts.open).toBe(1)
    hosted.clock.advance(2 * 60_000)
    await expect.poll(ended).toBe(true)
    expect(hosted.counts.open).toBe(0)
  })

  test('is left alone when it is a stream of events', async () => {
    const { hosted, ended } = await begin('text/event-stream; charset=utf-8')
    hosted.clock.advance(24 * 3600_000)
    expect(ended()).toBe(false)
    hosted.revoked.abort()
    await expect.poll(ended).toBe(true)
  })
})

describe('a socket to an application', () => {
  const handshake = (prefix: string, more = '') =>
    `GET ${prefix}/ws?x HTTP/1.1\r\nhost: h\r\nconnection: Upgrade\r\nupgrade: websocket\r\ncookie: svc-hosted=x\r\n${more}\r\n`

  async function startEcho(protocol?: string) {
    const hosted = await startHosted(mirror)
    const asked: IncomingMessage[] = []
    hosted.app.on('upgrade', (request, socket) => {
      asked.push(request)
      socket.on('error', () => undefined)
      const chosen = protocol === undefined ? '' : `sec-websocket-protocol: ${protocol}\r\n`
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${chosen}\r\n<hi>`)
      socket.pipe(socket)
    })
    return { hosted, asked }
  }

  const until = async (socket: Socket, mark: string): Promise<string> => {
    let heard = ''
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
      heard += String(chunk)
      if (heard.includes(mark)) break
    }
    return heard
  }

  test('carries bytes both ways, those sent with the handshake included, until either hangs up', async () => {
    const { hosted, asked } = await startEcho()
    await using _ = hosted
    const socket = openRaw(hosted.port)
    socket.write(`${handshake(hosted.prefix)}early`)
    const answer = await until(socket, '<hi>early')
    expect(answer).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/)
    expect(asked[0]).toMatchObject({ url: '/ws?x', headers: { upgrade: 'websocket', connection: 'Upgrade' } })
    expect(asked[0]?.headers.cookie).toBeUndefined()
    const touched = hosted.counts.touched
    socket.write('later')
    await until(socket, 'later')
    expect(hosted.counts.touched).toBeGreaterThan(touched)
    expect(hosted.counts.open).toBe(1)
    socket.destroy()
    await expect.poll(() => hosted.finished).toEqual(['GET /hosted 101'])
    expect(hosted.counts.open).toBe(0)
  })

  test('is closed when its user may no longer have it', async () => {
    const { hosted } = await startEcho()
    await using _ = hosted
    const socket = openRaw(hosted.port)
    socket.write(handshake(hosted.prefix))
    await until(socket, '<hi>')
    hosted.revoked.abort()
    await once(socket.resume(), 'close')
    expect(hosted.counts.open).toBe(0)
  })

  test.each<[string, string | undefined, string | undefined, string | undefined]>([
    // offered, what the application hears, what it chooses, what the client hears
    ['bearer, ours1', undefined, undefined, 'bearer'],
    ['bearer, ours1, chat', 'chat', 'chat', 'chat'],
    ['bearer, theirs', 'bearer, theirs', undefined, undefined],
    ['chat, bearer, ours1', 'chat, bearer, ours1', 'chat', 'chat'],
  ])('of the protocols %j the application hears %j', async (offered, heard, chosen, answered) => {
    const { hosted, asked } = await startEcho(chosen)
    await using _ = hosted
    const socket = openRaw(hosted.port)
    socket.write(handshake(hosted.prefix, `sec-websocket-protocol: ${offered}\r\n`))
    const answer = await until(socket, '<hi>')
    expect(asked[0]?.headers['sec-websocket-protocol']).toBe(heard)
    expect(/sec-websocket-protocol: (.*)\r/.exec(answer)?.[1]).toBe(answered)
    socket.destroy()
  })

  test('is over when the client goes away before the application has said anything', async () => {
    await using hosted = await startHosted(mirror)
    const asked = once(hosted.app, 'upgrade')
    const socket = openRaw(hosted.port)
    socket.write(handshake(hosted.prefix))
    const [, server] = (await asked) as [unknown, Socket]
    socket.end()
    await once(server.resume(), 'end')
    await expect.poll(() => hosted.counts.open).toBe(0)
    server.destroy()
  })

  test.each(['client', 'application'])('is ended half a minute after the %s has said its last', async (side) => {
    await using hosted = await startHosted(mirror)
    const asked = once(hosted.app, 'upgrade')
    const socket = connect({ port: hosted.port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.write(handshake(hosted.prefix))
    const [, server] = (await asked) as [unknown, Socket]
    server.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n<hi>')
    await until(socket, '<hi>')
    const [ending, other] = side === 'client' ? [socket, server] : [server, socket]
    ending.end()
    await once(other.resume(), 'end')
    hosted.clock.advance(29_000)
    expect(hosted.counts.open).toBe(1)
    hosted.clock.advance(1_000)
    await expect.poll(() => hosted.counts.open).toBe(0)
    server.destroy()
  })

  test('has no entry code in its address', async () => {
    const { hosted, asked } = await startEcho()
    await using _ = hosted
    const socket = openRaw(hosted.port)
    socket.write(handshake(hosted.prefix).replace('?x', '?svc-hosted-entry=secret&x'))
    await until(socket, '<hi>')
    expect(asked[0]?.url).toBe('/ws?x')
    socket.destroy()
  })

  test('that the application does not want is answered as it answers', async () => {
    await using hosted = await startHosted((_, response) =>
      response.writeHead(426, { 'x-why': 'no' }).end('no sockets'),
    )
    const answer = await raw(hosted.port, handshake(hosted.prefix))
    expect(answer).toMatch(/^HTTP\/1.1 426 Upgrade Required\r\n/)
    expect(answer).toContain('x-why: no')
    expect(answer).toContain('no sockets')
    await expect.poll(() => hosted.counts.open).toBe(0)
  })

  test('is refused with 502 where nothing listens', async () => {
    await using hosted = await startHosted(mirror)
    hosted.app.close()
    expect(await raw(hosted.port, handshake(hosted.prefix))).toMatch(/^HTTP\/1.1 502 .*app_not_answering/s)
    expect(hosted.finished).toEqual(['GET /hosted 502'])
    expect(hosted.counts.open).toBe(0)
  })
})
