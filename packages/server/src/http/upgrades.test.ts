import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { MemoryLog } from '../testing/memory-log.ts'
import { Listener, type UpgradeHandler } from './listener.ts'

const REQUEST =
  'GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nx-forwarded-for: 10.0.0.1\r\n\r\n'

async function listening(upgrade: UpgradeHandler, isKeptOut?: (peer: string) => boolean) {
  const log = new MemoryLog()
  const listener = new Listener({
    handler: (_, response) => response.end('a request'),
    upgrade,
    clock: systemClock,
    log,
    ...(isKeptOut ? { isKeptOut } : {}),
  })
  onTestFinished(() => listener.close(0))
  await listener.listen({ host: '0.0.0.0', port: 0 })
  const from = (localAddress = '127.0.0.1') => {
    const socket = connect({ port: listener.port ?? 0, host: '127.0.0.1', localAddress })
    onTestFinished(() => void socket.destroy())
    return socket
  }
  return { listener, log, from }
}

test('a peer that is kept out gets 403 for an upgrade as well', async () => {
  let taken = 0
  const { from } = await listening(
    ({ socket }) => {
      taken++
      socket.end('taken')
    },
    (peer) => peer === '127.0.0.2',
  )
  const ask = async (address: string) => {
    const socket = from(address)
    socket.write(REQUEST)
    return (await socket.toArray()).join('')
  }
  expect(await ask('127.0.0.2')).toMatch(/^HTTP\/1.1 403 .*Workspaces cannot use this address/s)
  expect(taken).toBe(0)
  expect(await ask('127.0.0.1')).toBe('taken')
})

test('closing does not wait for connections that were taken over, and leaves them open', async () => {
  const { listener, from } = await listening(({ socket }) => socket.write('taken'))
  const socket = from()
  socket.write(REQUEST)
  expect(String((await once(socket, 'data'))[0])).toBe('taken')
  await listener.close(60_000)
  expect(socket.destroyed).toBe(false)
})

test('while the server stops, an upgrade on an open connection is answered with 503', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const log = new MemoryLog()
  let asked = 0
  const listener = new Listener({
    handler: async (_, response) => {
      asked++
      await answered
      response.end('done')
    },
    upgrade: ({ socket }) => socket.end('taken'),
    clock: systemClock,
    log,
  })
  onTestFinished(() => listener.close(0))
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const held = connect(listener.port ?? 0, '127.0.0.1')
  const late = connect(listener.port ?? 0, '127.0.0.1')
  await Promise.all([once(held, 'connect'), once(late, 'connect')])
  held.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  late.write('GET / HTTP/1.1\r\nhost: localhost\r\n')
  await expect.poll(() => asked).toBe(1)
  const closed = listener.close(60_000)
  late.write('connection: upgrade\r\nupgrade: websocket\r\n\r\n')
  expect((await late.toArray()).join('')).toMatch(/^HTTP\/1.1 503 .*The server is stopping/s)
  answer()
  await closed
  held.destroy()
})

test('a handler that fails costs only its own connection', async () => {
  const { log, from } = await listening(() => {
    throw new Error('broken')
  })
  const socket = from()
  socket.write(REQUEST)
  await once(socket, 'close')
  expect(log.records.map(({ message }) => message)).toEqual(['a connection could not be taken over'])
})

test('a client that resets its connection before anybody has taken it ends nothing but that', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { from } = await listening(({ socket }) => void socket.once('close', () => resolve()).resume())
  const socket = from()
  socket.write(REQUEST, () => socket.resetAndDestroy())
  await promise
})
