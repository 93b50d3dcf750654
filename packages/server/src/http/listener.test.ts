import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { MemoryLog } from '../testing/memory-log.ts'
import { rawRequest } from '../testing/start-http.ts'
import { ListenError, Listener } from './listener.ts'

const hello = (_: unknown, response: { end(text: string): void }) => response.end('hello')

function listenerOn(clock: FakeClock | typeof systemClock = systemClock) {
  const log = new MemoryLog()
  const listener = new Listener({ handler: hello, clock, log })
  onTestFinished(() => listener.close(0))
  return { listener, log }
}

async function occupied(): Promise<{ server: Server; port: number }> {
  const server = createServer(hello).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 }
}

/** Moves time on until the promise settles. */
async function advancing<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const done = promise.finally(() => {
    settled = true
  })
  done.catch(() => undefined)
  while (!settled) {
    clock.advance(500)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return done
}

test('an address in use is tried again and taken as soon as it is free', async () => {
  const { server, port } = await occupied()
  const clock = new FakeClock()
  const { listener, log } = listenerOn(clock)
  const listening = listener.listen({ host: '127.0.0.1', port })
  await expect.poll(() => log.records.length).toBe(1)
  expect(log.records[0]?.message).toContain(`127.0.0.1:${port} is in use; trying again for 30 s`)
  server.close()
  await advancing(clock, listening)
  expect((await rawRequest({ port, method: 'GET', path: '/' })).text).toBe('hello')
})

test('an address that stays in use is given up after 30 s with a sentence', async () => {
  const { port } = await occupied()
  const clock = new FakeClock()
  const before = clock.nowMs()
  const failure = advancing(clock, listenerOn(clock).listener.listen({ host: '127.0.0.1', port }))
  await expect(failure).rejects.toThrow(`127.0.0.1:${port} is in use by another program`)
  await expect(failure).rejects.toMatchObject({ retryable: true })
  expect(clock.nowMs() - before).toBeGreaterThanOrEqual(30_000)
})

test('an address this machine does not have is refused at once', async () => {
  const failure = listenerOn().listener.listen({ host: '203.0.113.1', port: 9 })
  await expect(failure).rejects.toBeInstanceOf(ListenError)
  await expect(failure).rejects.toMatchObject({ retryable: false })
})

test('the private socket is for its owner only, and a dead one is replaced', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-socket-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const socketPath = join(dir, 'svcd.sock')
  const { listener } = listenerOn()
  await listener.listen({ socketPath })
  expect((await stat(socketPath)).mode & 0o777).toBe(0o600)
  expect((await rawRequest({ socketPath, method: 'GET', path: '/' })).text).toBe('hello')
  await expect(listenerOn().listener.listen({ socketPath })).rejects.toThrow('in use by another server')
})

test('closing lets a request under way finish and takes no new one', async () => {
  let release: (() => void) | undefined
  const listener = new Listener({
    handler: (_, response) => {
      release = () => response.end('finished')
    },
    clock: systemClock,
    log: new MemoryLog(),
  })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const port = listener.port ?? 0
  const underWay = rawRequest({ port, method: 'GET', path: '/' })
  await expect.poll(() => release).toBeDefined()
  const closed = listener.close(60_000)
  await expect(rawRequest({ port, method: 'GET', path: '/' })).rejects.toThrow('ECONNREFUSED')
  release?.()
  expect((await underWay).text).toBe('finished')
  await closed
})

test('a request that outlasts the grace time is ended', async () => {
  const clock = new FakeClock()
  const log = new MemoryLog()
  let asked = 0
  const listener = new Listener({ handler: () => void asked++, clock, log })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const stuck = rawRequest({ port: listener.port ?? 0, method: 'GET', path: '/' })
  stuck.catch(() => undefined)
  await expect.poll(() => asked).toBe(1)
  const closed = listener.close(15_000)
  await advancing(clock, closed)
  await expect(stuck).rejects.toThrow()
  expect(log.records[0]?.message).toContain('grace time')
})

test('a client that resets its connection cannot pass for the private socket', async () => {
  const peers: (string | undefined)[] = []
  const handler: RequestListener = (request, response) => {
    peers.push(request.socket.remoteAddress)
    response.end()
  }
  const listener = new Listener({ handler, clock: systemClock, log: new MemoryLog() })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.close(0))
  for (let round = 0; round < 100; round++) {
    const socket = connect(listener.port ?? 0, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    socket.resetAndDestroy()
    await once(socket, 'close')
  }
  await rawRequest({ port: listener.port ?? 0, method: 'GET', path: '/' }) // by now the others have been read
  expect(new Set(peers)).toEqual(new Set(['127.0.0.1']))
})

test('a peer that is kept out gets 403, and the service never sees its request', async () => {
  const seen: string[] = []
  const handler: RequestListener = (request, response) => {
    seen.push(request.url ?? '')
    response.end('hello')
  }
  const isKeptOut = (peer: string) => peer === '127.0.0.2'
  const listener = new Listener({ handler, clock: systemClock, log: new MemoryLog(), isKeptOut })
  onTestFinished(() => listener.close(0))
  await listener.listen({ host: '0.0.0.0', port: 0 })
  const port = listener.port ?? 0
  const from = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.end(`GET /from/${localAddress} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 127.0.0.1\r\n\r\n`)
    return (await socket.toArray()).join('')
  }
  expect(await from('127.0.0.2')).toMatch(/^HTTP\/1.1 403 .*Workspaces cannot use this address/s)
  expect(await from('127.0.0.1')).toContain('hello')
  expect(seen).toEqual(['/from/127.0.0.1'])
})
