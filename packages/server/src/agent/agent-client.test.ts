import { getEventListeners } from 'node:events'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { encodeFrame } from '@svc/protocol/agent/frames'
import { encodeJson } from '@svc/protocol/agent/json-bytes'
import { AGENT_PROTOCOL } from '@svc/protocol/agent/requests'
import { expect, test } from 'vitest'
import { AgentPeer, connectPeer, HELLO, socketPair } from '../testing/agent-peer.ts'
import { AgentClient } from './agent-client.ts'
import { AgentError, AgentLost, AgentOutdated } from './agent-error.ts'

const never = () => {}
const soon = () => AbortSignal.timeout(10_000)

test('connecting resolves when the agent has greeted, with what it said', async () => {
  const { ours, theirs } = await socketPair()
  new AgentPeer(theirs, never).channels.announce({ ...HELLO, boot_id: 'abc', ready: true })
  const agent = await AgentClient.connect(ours, { signal: soon() })
  expect(agent).toMatchObject({ bootId: 'abc', isReady: true })
  agent.close()
})

test.each([
  ['nothing of ours', { type: 'exited', code: 0, signal: null }],
  ['a text', 'hello'],
  ['null', null],
  ['no boot id', { type: 'hello', protocol: AGENT_PROTOCOL, ready: true }],
  ['a boot id without end', { ...HELLO, boot_id: 'x'.repeat(10_000) }],
])('a greeting that is %s ends the connection', async (_what, greeting) => {
  const { ours, theirs } = await socketPair()
  new AgentPeer(theirs, never).channels.announce(greeting)
  await expect(AgentClient.connect(ours, { signal: soon() })).rejects.toBeInstanceOf(AgentLost)
  expect(ours.destroyed).toBe(true)
})

test('an agent of another protocol is outdated, whatever else its greeting holds', async () => {
  const { ours, theirs } = await socketPair()
  new AgentPeer(theirs, never).channels.announce({ type: 'hello', protocol: 99, other: [] })
  await expect(AgentClient.connect(ours, { signal: soon() })).rejects.toBeInstanceOf(AgentOutdated)
  expect(ours.destroyed).toBe(true)
})

test('an agent that is gone before it greets is lost', async () => {
  const { ours, theirs } = await socketPair()
  const connecting = AgentClient.connect(ours, { signal: soon() })
  theirs.destroy()
  await expect(connecting).rejects.toBeInstanceOf(AgentLost)
})

test('connecting to an agent that never greets ends with the signal, and leaves no listener on it', async () => {
  const { ours } = await socketPair()
  const giveUp = new AbortController()
  const connecting = AgentClient.connect(ours, { signal: giveUp.signal })
  giveUp.abort(new Error('too slow'))
  await expect(connecting).rejects.toThrow('too slow')
  expect(getEventListeners(giveUp.signal, 'abort')).toEqual([])
  expect(ours.destroyed).toBe(true)
})

test('a second greeting ends the connection', async () => {
  const { agent, peer } = await connectPeer(never)
  const ping = agent.ping()
  peer.channels.announce(HELLO)
  await expect(ping).rejects.toBeInstanceOf(AgentLost)
  await agent.lost
})

test('requests carry what they ask for and resolve when the agent closes their channel', async () => {
  const { agent, peer } = await connectPeer((channel) => channel.close())
  const setup = { sudo: true, service_command: null, token: 'secret', env: { A: '1' } }
  await agent.setup(setup)
  await agent.ping()
  await agent.writeToken('other')
  await agent.prepareHome('7', 'ada')
  expect(peer.requests).toEqual([
    { op: 'setup', ...setup },
    { op: 'ping' },
    { op: 'token.write', token: 'other' },
    { op: 'home.prepare', user_id: '7', handle: 'ada' },
  ])
  expect(agent.callCount).toBe(0)
})

test('a refusal keeps its code and its sentence, which is cut to a decent length', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_found', message: 'x'.repeat(100_000) }))
  const error = await agent.ping().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(AgentError)
  expect(error).toMatchObject({ code: 'not_found', message: 'x'.repeat(500) })
})

test('the sentence of a refusal has nothing in it that a terminal would obey', async () => {
  const message = 'No \u001b[2J\u202efile\n\ud800'
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_found', message }))
  await expect(agent.ping()).rejects.toThrow('No  [2J file \ufffd')
})

test('a health check gives the code and the end of the output', async () => {
  const { agent, peer } = await connectPeer((channel) => {
    channel.message({ type: 'checked', code: 1, output: `${'x'.repeat(500_000)}end` })
    channel.close()
  })
  const { code, output } = await agent.checkHealth('true', 5000)
  expect(code).toBe(1)
  expect(output).toHaveLength(4096)
  expect(output).toMatch(/end$/)
  expect(peer.requests).toEqual([{ op: 'health.check', command: 'true', timeout_ms: 5000 }])
})

const checked = { type: 'checked', code: 0, output: '' }
test.each([
  ['of another kind', [{ type: 'written', size: 1 }]],
  ['of no kind', [{ type: 'surprise' }]],
  ['with a wrong field', [{ ...checked, code: 'zero' }]],
  ['that is no object', [42]],
  ['given twice', [checked, checked]],
  ['not given at all', []],
])('an answer %s fails its request, and no other', async (_what, messages) => {
  const { agent } = await connectPeer((channel, request) => {
    if (JSON.stringify(request).includes('health.check')) for (const message of messages) channel.message(message)
    channel.close()
  })
  await expect(agent.checkHealth('true', 1000)).rejects.toMatchObject({ name: 'AgentError', code: 'failed' })
  await agent.ping()
})

test('bytes where none were asked for fail the request', async () => {
  const { agent } = await connectPeer((channel) => void channel.write(Buffer.from('surprise')))
  await expect(agent.ping()).rejects.toMatchObject({ name: 'AgentError', code: 'failed' })
  expect(agent.callCount).toBe(0)
})

test('a request that is given up ends on both sides and leaves no listener on its signal', async () => {
  const closed = Promise.withResolvers<void>()
  const { agent } = await connectPeer((channel) => {
    channel.handlers = { closed: () => closed.resolve() }
  })
  const giveUp = new AbortController()
  const ping = agent.ping({ signal: giveUp.signal })
  giveUp.abort(new Error('enough'))
  await expect(ping).rejects.toThrow('enough')
  await closed.promise
  expect(agent.callCount).toBe(0)
  expect(getEventListeners(giveUp.signal, 'abort')).toEqual([])
  await expect(agent.ping({ signal: giveUp.signal })).rejects.toThrow('enough')
})

test('a request that is too large fails alone', async () => {
  const { agent } = await connectPeer((channel) => channel.close())
  await expect(agent.writeToken('x'.repeat(2_000_000))).rejects.toMatchObject({ code: 'bad_request' })
  await agent.ping()
})

test('what is asked in one go leaves in one piece', async () => {
  const writes: number[] = []
  const stream = new Duplex({
    read: () => {},
    write: (_bytes, _encoding, done) => {
      writes.push(1)
      done()
    },
    writev: (pieces, done) => {
      writes.push(pieces.length)
      done()
    },
  })
  stream.push(encodeFrame({ kind: 'message', channel: 0, payload: encodeJson(HELLO) }))
  const agent = await AgentClient.connect(stream, { signal: soon() })
  const pings = Array.from({ length: 200 }, () => agent.ping())
  await expect.poll(() => writes).toEqual([200])
  agent.close()
  await Promise.allSettled(pings)
})

test('a signal that was not needed has no listener left', async () => {
  const { signal } = new AbortController()
  const { ours, theirs } = await socketPair()
  new AgentPeer(theirs, (channel) => channel.close()).channels.announce(HELLO)
  const agent = await AgentClient.connect(ours, { signal })
  await agent.ping({ signal })
  expect(getEventListeners(signal, 'abort')).toEqual([])
  agent.close()
})

test('losing the connection loses every request, and all later ones', async () => {
  const { agent, peer } = await connectPeer(never)
  const pings = [agent.ping(), agent.checkHealth('true', 1), agent.files.list('/')]
  await expect.poll(() => peer.requests.length).toBe(3)
  peer.socket.destroy()
  for (const ping of pings) await expect(ping).rejects.toBeInstanceOf(AgentLost)
  await agent.lost
  await expect(agent.ping()).rejects.toBeInstanceOf(AgentLost)
  const exec = agent.exec({ argv: ['true'], login: false, cwd: '/', env: {} })
  await expect(exec.exited).rejects.toBeInstanceOf(AgentLost)
  await expect(text(exec.stdout)).rejects.toBeInstanceOf(AgentLost)
  expect(agent.lostBecause).toBeInstanceOf(AgentLost)
})

test('closing it ends the stream, tells `lost`, and leaves nothing listening', async () => {
  const { ours, theirs } = await socketPair()
  const listeners = () => ['data', 'drain', 'end', 'close'].map((event) => ours.listenerCount(event))
  const before = listeners()
  new AgentPeer(theirs, never).channels.announce(HELLO)
  const agent = await AgentClient.connect(ours, { signal: soon() })
  agent.close()
  agent.close()
  await agent.lost
  expect(ours.destroyed).toBe(true)
  expect(listeners()).toEqual(before)
})

test('an agent that asks something of the server is let go', async () => {
  const { peer, agent } = await connectPeer((channel) => channel.close())
  peer.channels.open({ op: 'ping' }, {})
  await agent.lost
  expect(agent.lostBecause?.message).toMatch(/does not keep to the protocol: a request to a side that takes none/)
})

test('an agent that floods us with tiny frames holds up nobody else', async () => {
  const { peer, agent } = await connectPeer(never)
  agent.checkHealth('x', 1000).catch(() => undefined)
  // Credit for a channel that is open is the cheapest thing an agent may send without end.
  const credit = encodeFrame({ kind: 'credit', channel: 1, payload: new Uint8Array(4) })
  const flood = Buffer.concat(Array.from({ length: 200_000 }, () => credit))
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  count()
  await new Promise<void>((sent) => peer.socket.write(flood, () => sent()))
  isOver = true
  agent.close()
  expect(turns).toBeGreaterThan(flood.length / (64 * 1024) / 2) // at least one for every two pieces that are read
})

test.each([
  ['an unknown kind of frame', Buffer.from([0, 0, 0, 5, 99, 0, 0, 0, 1])],
  ['bytes on a channel that was never opened', Buffer.from([0, 0, 0, 6, 3, 0, 0, 0, 9, 65])],
  ['a frame without end', Buffer.from([255, 255, 255, 255, 1, 0, 0, 0, 0])],
  ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  [
    'a message that is no JSON',
    encodeFrame({ kind: 'message', channel: 0, payload: Buffer.from('{"password":"hunter2') }),
  ],
  ['an open of our own number', encodeFrame({ kind: 'open', channel: 1, payload: encodeJson({}) })],
  ['bytes beyond the credit', floodOf(1)],
])('%s ends the connection, and nothing of it is repeated', async (_what, bytes) => {
  const { agent, peer } = await connectPeer(never)
  const exec = agent.exec({ argv: ['cat'], login: false, cwd: '/', env: {} })
  await expect.poll(() => peer.requests.length).toBe(1)
  peer.socket.write(bytes)
  await expect(exec.exited).rejects.toBeInstanceOf(AgentLost)
  expect(agent.lostBecause?.message).toMatch(/^the agent does not keep to the protocol/)
  expect(agent.lostBecause?.message).not.toMatch(/hunter2|HTTP/)
  expect(agent.lostBecause?.cause).toBeUndefined()
})

function floodOf(channel: number): Uint8Array {
  const frame = encodeFrame({ kind: 'data', channel, payload: new Uint8Array(64 * 1024) })
  return Buffer.concat([frame, frame, frame, frame, frame])
}
