import { expect, test } from 'vitest'
import { startSockets } from '../testing/start-sockets.ts'

const pinged = (ws: { once(event: 'ping', listener: () => void): unknown }) =>
  new Promise<void>((resolve) => ws.once('ping', () => resolve()))

test('a client is asked every 20 s, and one that is there stays', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair()
  for (let round = 0; round < 5; round++) {
    const asked = pinged(client.ws)
    server.clock.advance(20_000)
    await asked
    await client.roundTrip()
    server.clock.advance(20_000)
    await client.roundTrip()
  }
  expect(peer.gone.aborted).toBe(false)
})

test('a client that does not answer within 20 s is cut off', async () => {
  await using server = await startSockets()
  const silent = await server.pair('silent', { autoPong: false })
  const other = await server.pair('other')
  const asked = pinged(silent.client.ws)
  server.clock.advance(20_000)
  await asked
  await other.client.roundTrip()
  server.clock.advance(19_999)
  await other.client.roundTrip()
  expect(silent.peer.gone.aborted).toBe(false)
  server.clock.advance(1)
  expect(await silent.client.closed).toEqual({ code: 1006, reason: '' })
  await expect.poll(() => [...server.open.all()]).toEqual([other.peer])
})

test('whatever a client sends shows that it is there', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair('ann', { autoPong: false })
  for (let round = 0; round < 5; round++) {
    const asked = pinged(client.ws)
    server.clock.advance(20_000)
    await asked
    await client.roundTrip()
    server.clock.advance(20_000)
    await client.roundTrip()
  }
  expect(peer.gone.aborted).toBe(false)
})

test('nobody is blamed for silence while we read nothing', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair('ann', { autoPong: false })
  const other = await server.pair('other')
  const release = peer.hold(2 ** 21)
  for (let round = 0; round < 5; round++) {
    server.clock.advance(20_000)
    await other.client.roundTrip()
  }
  expect(peer.gone.aborted).toBe(false)
  release()
  await client.roundTrip()
})

test('nor for an answer that we did not read', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair('ann', { autoPong: false })
  const other = await server.pair('other')
  const asked = pinged(client.ws)
  server.clock.advance(20_000)
  await asked
  await other.client.roundTrip()
  const release = peer.hold(2 ** 21)
  server.clock.advance(20_000)
  await other.client.roundTrip()
  expect(peer.gone.aborted).toBe(false)
  release()
  await client.roundTrip()
})
