import { expect, test } from 'vitest'
import type { Caller } from '../kernel/route.ts'
import { SocketRefused } from '../kernel/socket-refused.ts'
import { startSockets } from '../testing/start-sockets.ts'

test('a session that ends while its socket is being opened does not slip through', async () => {
  let checks = 0
  await using server = await startSockets({
    checking() {
      checks++
      if (checks === 2) throw new SocketRefused(4001, 'ended meanwhile')
    },
  })
  const socket = await server.socket()
  expect(await socket.closed).toEqual({ code: 4001, reason: 'ended meanwhile' })
  expect(socket.frames).toEqual([])
  expect([...server.open.all()]).toEqual([])
})

test('what is ended during the second check finds the socket', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let checks = 0
  await using server = await startSockets({ checking: () => (++checks === 2 ? promise : undefined) })
  const socket = await server.socket()
  await expect.poll(() => checks).toBe(2)
  server.sockets.sessionsEnded(['session of ann'])
  expect(await socket.closed).toMatchObject({ code: 4001 })
  resolve()
})

test('a fault of the sign-in check closes with 1013, and only the log tells what it was', async () => {
  await using server = await startSockets({
    checking() {
      throw new Error('the database is at 10.0.0.7')
    },
  })
  const { code, reason } = await (await server.socket()).closed
  expect(code).toBe(1013)
  expect(reason).not.toContain('10.0.0.7')
  expect(server.log.records.map(({ level }) => level)).toContain('ERROR')
})

test('of two changes of an account the later one counts, whichever is read first', async () => {
  const lookups: PromiseWithResolvers<Caller>[] = []
  const heard: string[] = []
  await using server = await startSockets({
    renew() {
      const lookup = Promise.withResolvers<Caller>()
      lookups.push(lookup)
      return lookup.promise
    },
    rows: {
      terminal_stop: {
        scope: 'connection',
        lane: 'terminal',
        handle: ({ peer }) => void heard.push(peer.caller.email),
      },
    },
  })
  const { client, peer } = await server.pair()
  server.sockets.accountChanged('ann')
  server.sockets.accountChanged('ann')
  client.send({ cmd: 'terminal_stop' })
  await client.roundTrip()
  expect(heard).toEqual([]) // nothing is done for somebody who is being looked up
  lookups[1]?.resolve({ ...peer.caller, email: 'second' })
  await expect.poll(() => heard).toEqual(['second'])
  lookups[0]?.resolve({ ...peer.caller, email: 'first' })
  client.send({ cmd: 'terminal_stop' })
  await expect.poll(() => heard).toEqual(['second', 'second'])
})

test('a change of the account during the second check counts, though the check began before it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let checks = 0
  await using server = await startSockets({
    checking: () => (++checks === 2 ? promise : undefined),
    renew: async (before) => ({ ...before, email: 'as changed' }),
  })
  const socket = await server.socket()
  await expect.poll(() => checks).toBe(2)
  server.sockets.accountChanged('ann')
  resolve()
  await socket.roundTrip()
  expect([...server.open.all()].map(({ caller }) => caller.email)).toEqual(['as changed'])
})

test('a command that waits for a look-up that fails ends with its socket', async () => {
  const lookup = Promise.withResolvers<Caller>()
  await using server = await startSockets({ renew: () => lookup.promise })
  const { client } = await server.pair('ann', { caps: ['req'] })
  server.sockets.accountChanged('ann')
  client.send({ cmd: 'terminal_stop', req: 'waits' })
  await client.roundTrip()
  lookup.reject(new SocketRefused(4004, 'Password change required'))
  expect(await client.closed).toMatchObject({ code: 4004 })
})

test.each([
  [new SocketRefused(4004, 'Password change required'), 4004],
  [new Error('the database is away'), 1013],
])('a change after which nobody can be found, %s, closes with %i', async (error, code) => {
  await using server = await startSockets({ renew: () => Promise.reject(error) })
  const { client } = await server.pair()
  server.sockets.accountChanged('ann')
  expect(await client.closed).toMatchObject({ code })
})

test('a client that breaks the protocol is gone at once, even while it still has to answer the close', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair()
  client.pause()
  client.sendRaw(new Uint8Array((1 << 24) + 1))
  await expect.poll(() => peer.gone.aborted).toBe(true)
  client.resume()
  expect(await client.closed).toMatchObject({ code: 1009 })
})
