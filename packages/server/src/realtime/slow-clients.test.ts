import { expect, test } from 'vitest'
import type { Peer } from '../kernel/peer.ts'
import { startSockets } from '../testing/start-sockets.ts'

const PAYLOAD = new Uint8Array(64 * 1024)
const chunk = { kind: 'terminalOutput', channel: 1, offset: 0, payload: PAYLOAD } as const
/** Far more than it takes until the network has what it can take. */
const TURNS = 100

/** Sends as features do, one after the other, until the network takes no more. Answers what is left unsent, as it changes. */
async function fillUp(peer: Peer): Promise<{ unsent: number }> {
  const state = { unsent: 0 }
  while (!peer.gone.aborted) {
    state.unsent++
    peer.sendBinary(chunk, () => state.unsent--)
    for (let turn = 0; turn < TURNS && state.unsent > 0; turn++) await new Promise((resolve) => setImmediate(resolve))
    if (state.unsent >= 4) return state
  }
  throw new Error('the socket is gone')
}

test('a client that takes nothing for 30 s is closed with 1013, and others notice nothing', async () => {
  await using server = await startSockets()
  const slow = await server.pair('slow')
  const quick = await server.pair('quick')
  slow.client.pause()
  const state = await fillUp(slow.peer)
  server.clock.advance(20_000)
  await quick.client.roundTrip()
  expect(slow.peer.gone.aborted).toBe(false)
  server.clock.advance(10_000)
  expect(slow.peer.gone.aborted).toBe(true)
  expect([...server.open.all()]).toEqual([quick.peer])
  expect(state.unsent).toBeLessThan(4) // what waited is let go; what the network was given stays with it until the end
  await quick.client.roundTrip()
  slow.client.resume()
  expect(await slow.client.closed).toMatchObject({ code: 1013 })
  await expect.poll(() => state.unsent).toBe(0)
})

test('a slow client that takes a little again and again is kept', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair('ann', { caps: ['bin'] })
  for (let round = 0; round < 5; round++) {
    client.pause()
    const state = await fillUp(peer)
    server.clock.advance(20_000)
    expect(peer.gone.aborted).toBe(false)
    client.resume()
    await client.until(() => state.unsent === 0)
  }
  await client.roundTrip()
  expect(peer.gone.aborted).toBe(false)
})

test('a client for whom more than 8 MiB pile up is closed with 1013', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair()
  client.pause()
  const event = { type: 'workspace_evicted', workspace_id: 'w', reason: 'x'.repeat(100_000) } as const
  let sent = 0
  while (!peer.gone.aborted) {
    peer.send(event, () => sent--)
    sent++
    expect(sent).toBeLessThan(1000)
  }
  expect(sent).toBeLessThan(10) // those that waited are let go at once
  client.resume()
  expect(await client.closed).toMatchObject({ code: 1013 })
})

test('a client that does not even answer the close is cut off', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair()
  client.pause()
  peer.close(1013, 'enough')
  expect(peer.gone.aborted).toBe(true)
  server.clock.advance(5_000)
  client.resume()
  await client.closed
})

test('long messages arrive whole, in order with short ones', async () => {
  await using server = await startSockets()
  const { client, peer } = await server.pair('ann', { caps: ['bin'] })
  const long = Uint8Array.from({ length: 1_000_003 }, (_, index) => index % 251)
  const seen: string[] = []
  peer.sendBinary({ kind: 'terminalScreen', channel: 7, offset: 9, payload: long }, () => seen.push('long'))
  peer.send({ type: 'host_started' }, () => seen.push('short'))
  await client.next('host_started')
  expect(client.binary[0]).toMatchObject({ kind: 'terminalScreen', channel: 7, offset: 9 })
  expect(Buffer.compare(client.binary[0]?.payload ?? new Uint8Array(), long)).toBe(0)
  expect(seen).toEqual(['long', 'short'])
})

test('above a mebibyte of waiting input nothing more is read, and below half of it reading goes on', async () => {
  const releases: (() => void)[] = []
  let heard = 0
  await using server = await startSockets({
    rows: {
      terminal_input: {
        scope: 'connection',
        lane: 'terminal',
        handle({ peer, frame }) {
          heard++
          releases.push(peer.hold(frame.data.length))
        },
      },
    },
  })
  const { client } = await server.pair()
  const data = 'x'.repeat(100_000)
  const count = 100
  for (let sent = 0; sent < count; sent++) client.send({ cmd: 'terminal_input', data })
  await expect.poll(() => heard).toBeGreaterThan(10)
  const other = await server.pair('eve')
  await other.client.roundTrip()
  const stoodAt = heard
  expect(stoodAt).toBeLessThan(15)
  await other.client.roundTrip()
  expect(heard).toBe(stoodAt)
  releases.shift()?.()
  await other.client.roundTrip()
  expect(heard).toBe(stoodAt)
  while (heard < count) {
    for (const release of releases.splice(0)) {
      release()
      release() // a second time changes nothing
    }
    await other.client.roundTrip()
  }
  for (const release of releases) release()
  await client.roundTrip()
})

test('commands that wait for their turn count as held', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let dealt = 0
  await using server = await startSockets({
    rows: {
      workspace_connect: { scope: 'connection', lane: 'workspace', handle: () => promise },
      terminal_resize: { scope: 'connection', lane: 'terminal', handle: () => void dealt++ },
      heartbeat: { scope: 'connection', lane: 'free', handle: ({ reply }) => reply({ type: 'host_started' }) },
    },
  })
  const { client } = await server.pair()
  client.send({ cmd: 'workspace_connect', workspaceId: 'w' })
  for (let sent = 0; sent < 20_000; sent++) client.send({ cmd: 'terminal_resize', cols: 1, rows: 1 })
  client.send({ cmd: 'heartbeat' })
  const other = await server.pair('eve')
  for (let trip = 0; trip < 20; trip++) await other.client.roundTrip()
  expect(client.frames.at(-1)?.type).not.toBe('host_started')
  resolve()
  await client.next('host_started')
  await expect.poll(() => dealt).toBe(20_000)
})

test('a client that says a great many small things at once is heard in turn with the others', async () => {
  let [count, inTurn, mostInTurn] = [0, 0, 0]
  const handle = () => {
    count++
    if (++inTurn > 1) return
    setImmediate(() => {
      mostInTurn = Math.max(mostInTurn, inTurn)
      inTurn = 0
    })
  }
  await using server = await startSockets({ rows: { heartbeat: { scope: 'connection', lane: 'free', handle } } })
  const client = await server.socket()
  for (let time = 0; time < 5_000; time++) client.send({ cmd: 'heartbeat' })
  await client.until(() => count === 5_000)
  expect(mostInTurn).toBeLessThan(100)
})
