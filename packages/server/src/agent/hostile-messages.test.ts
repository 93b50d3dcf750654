import { performance } from 'node:perf_hooks'
import type { Channel } from '@svc/protocol/agent/channels'
import { encodeFrame, MAX_PAYLOAD_BYTES } from '@svc/protocol/agent/frames'
import { expect, test } from 'vitest'
import { connectPeer } from '../testing/agent-peer.ts'
import { AgentError, AgentLost } from './agent-error.ts'

/** Reading one of these the plain way takes from a tenth of a second to several. */
const SOON_MS = 500

const filled = (begin: string, part: string, end: string) =>
  begin + part.repeat(Math.floor((MAX_PAYLOAD_BYTES - begin.length - end.length) / part.length)) + end

test.each([
  ['lists in lists', filled('', '[', '')],
  ['a list of lists', filled('[', '[],', '[]]')],
  ['objects without end', filled('{"type":"terminals","opened":1,"terminals":[', '{},', '{}]}')],
  ['numbers without end', filled('{"type":"entries","entries":[', '0,', '0]}')],
])('an agent that answers %s is let go of, and nobody waits for it', async (_, text) => {
  const { agent, peer } = await connectPeer((channel) => answerWith(peer.socket, channel, text))
  const startedMs = performance.now()
  await expect(agent.terminals.list()).rejects.toBeInstanceOf(AgentLost)
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS)
})

test('a list that is longer than any is not looked at, and fails its request alone', async () => {
  const one = { pid: 1, cols: 80, rows: 24, title: '', offset: 0, label: '' }
  const terminals = Array.from({ length: 600 }, (_, n) => ({ id: `w${n}`, ...one }))
  const { agent } = await connectPeer((channel, request) => {
    if (JSON.stringify(request).includes('terminal.list')) channel.message({ type: 'terminals', opened: 1, terminals })
    channel.close()
  })
  await expect(agent.terminals.list()).rejects.toBeInstanceOf(AgentError)
  await agent.ping()
})

test('as many terminals as an agent can have are listed', async () => {
  const label = JSON.stringify({ text: '"'.repeat(400) })
  const one = { pid: 1, cols: 80, rows: 24, title: '\\'.repeat(256), offset: 2 ** 40, label }
  const terminals = Array.from({ length: 257 }, (_, n) => ({ id: `w${n}`, ...one }))
  const { agent } = await connectPeer((channel) => {
    channel.message({ type: 'terminals', opened: 300, terminals })
    channel.close()
  })
  expect((await agent.terminals.list()).terminals).toHaveLength(257)
})

function answerWith(socket: { write(bytes: Uint8Array): unknown }, { id }: Channel, text: string): void {
  socket.write(encodeFrame({ kind: 'message', channel: id, payload: Buffer.from(text) }))
}
