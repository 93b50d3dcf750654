import { type Channel, Channels } from '@svc/protocol/agent/channels'
import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { expect, test } from 'vitest'
import { connectPeer } from '../testing/agent-peer.ts'
import type { AgentClient } from './agent-client.ts'
import { AgentLost } from './agent-error.ts'
import type { AttachedTerminal } from './attached-terminal.ts'

const attached = { type: 'attached', cols: 80, rows: 24, offset: 7, snapshot_bytes: 3 }
const exited = { type: 'exited', code: 1, signal: null }
const closedByUs = Symbol('closed')

/** A viewer that writes down what it is told, and has taken every byte as soon as it comes. */
function view(agent: AgentClient, options: { lossy?: boolean; isGreedy?: boolean } = {}) {
  const told: unknown[] = []
  const terminal: AttachedTerminal = agent.terminals.attach(
    { id: 't', lossy: options.lossy ?? false },
    {
      output: (bytes) => {
        told.push(Buffer.from(bytes).toString())
        if (options.isGreedy !== false) terminal.consumed(bytes.length)
      },
      resized: (size) => told.push({ resized: size }),
      titled: (title) => told.push({ titled: title }),
      resync: (at) => told.push({ resync: at }),
      exited: (exit) => told.push({ exited: exit }),
      lost: () => told.push('lost'),
    },
  )
  return { terminal, told }
}

test('terminals are opened, listed, labelled and closed by their id', async () => {
  const info = { id: 't', pid: 5, cols: 80, rows: 24, title: '', offset: 0, label: 'mine' }
  const { agent, peer } = await connectPeer((channel, request) => {
    if (JSON.stringify(request).includes('list')) channel.message({ type: 'terminals', terminals: [info], opened: 3 })
    channel.close()
  })
  const terminal = { id: 't', cols: 80, rows: 24, env: {}, cwd: '/', label: 'mine' }
  await agent.terminals.open(terminal)
  expect(await agent.terminals.list()).toEqual({ terminals: [info], opened: 3 })
  await agent.terminals.label('t', 'yours')
  await agent.terminals.close('t')
  expect(peer.requests).toEqual([
    { op: 'terminal.open', ...terminal },
    { op: 'terminal.list' },
    { op: 'terminal.label', id: 't', label: 'yours' },
    { op: 'terminal.close', id: 't' },
  ])
})

test.each([
  ['a size of nothing', { cols: 0 }],
  ['an id without end', { id: 'x'.repeat(1000) }],
  ['a place before the beginning', { offset: -1 }],
  ['a label without end', { label: 'x'.repeat(1025) }],
])('a list with a terminal of %s has failed', async (_what, wrong) => {
  const { agent } = await connectPeer((channel) => {
    const terminal = { id: 't', pid: 5, cols: 80, rows: 24, title: '', offset: 0, label: '', ...wrong }
    channel.message({ type: 'terminals', terminals: [terminal], opened: 1 })
    channel.close()
  })
  await expect(agent.terminals.list()).rejects.toMatchObject({ name: 'AgentError', code: 'failed' })
})

test('a viewer is told everything in order, to the exit', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    void channel.write(Buffer.from('abc'))
    channel.message({ type: 'titled', title: 'vi' })
    channel.message({ type: 'resized', cols: 100, rows: 30 })
    void channel.write(Buffer.from('wide'))
    channel.message(exited)
    channel.close()
  })
  const { terminal, told } = view(agent)
  expect(await terminal.attached).toEqual({ cols: 80, rows: 24, offset: 7, snapshotBytes: 3 })
  await expect.poll(() => told).toContainEqual({ exited: { code: 1, signal: null } })
  expect(told).toEqual([
    'abc',
    { resized: { cols: 100, rows: 30 } },
    'wide',
    { titled: 'vi' },
    { exited: { code: 1, signal: null } },
  ])
  expect(agent.callCount).toBe(0)
})

test('input and sizes reach the terminal', async () => {
  const heard: unknown[] = []
  const { agent } = await connectPeer((channel) => {
    channel.handlers = {
      data: (bytes) => heard.push(Buffer.from(bytes).toString()),
      message: (message) => heard.push(message),
      closed: () => heard.push(closedByUs),
    }
    channel.message(attached)
  })
  const { terminal, told } = view(agent)
  await terminal.attached
  await terminal.write(Buffer.from('ls\n'))
  terminal.resize(120, 40)
  terminal.close()
  terminal.close()
  await expect.poll(() => heard).toEqual(['ls\n', { type: 'resize', cols: 120, rows: 40 }, closedByUs])
  expect(told).toEqual([])
})

test('output stops at the credit until the viewer has taken it', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    void channel.write(Buffer.alloc(1_000_000, 'x'))
  })
  const { terminal, told } = view(agent, { isGreedy: false })
  const length = () => told.reduce<number>((sum, piece) => sum + String(piece).length, 0)
  await expect.poll(length).toBe(INITIAL_CREDIT)
  terminal.consumed(INITIAL_CREDIT)
  await expect.poll(length).toBe(2 * INITIAL_CREDIT)
})

test.each([true, false])('a viewer (lossy: %s) is told where it is drawn anew', async (lossy) => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    channel.message({ type: 'resync', offset: 5000, snapshot_bytes: 2 })
  })
  const { told } = view(agent, { lossy })
  await expect.poll(() => told).toEqual([{ resync: { offset: 5000, snapshotBytes: 2 } }])
})

test('a flood of titles and sizes is only worth the latest', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    for (let count = 1; count <= 1000; count++) {
      channel.message({ type: 'titled', title: `${count}`.padEnd(5000) })
      channel.message({ type: 'resized', cols: count, rows: 24 })
    }
    channel.message(exited)
    channel.close()
  })
  const { told } = view(agent)
  await expect.poll(() => told).toContainEqual({ exited: { code: 1, signal: null } })
  expect(told.length).toBeLessThan(500)
  expect(told.at(-2)).toEqual({ titled: '1000'.padEnd(1024) })
})

test('a viewer that detaches before it was attached hears only that', async () => {
  const { agent } = await connectPeer(() => {})
  const { terminal, told } = view(agent)
  terminal.close()
  await expect(terminal.attached).rejects.toMatchObject({ code: 'failed' })
  expect(told).toEqual([])
})

test('a terminal that is not there rejects `attached` and tells nothing else', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_found', message: 'No such terminal' }))
  const { terminal, told } = view(agent)
  await expect(terminal.attached).rejects.toMatchObject({ name: 'AgentError', code: 'not_found' })
  expect(told).toEqual([])
})

test('a viewer is told that the connection is lost, attached or not', async () => {
  const { agent, peer } = await connectPeer((channel) => {
    if (channel.id === 1) channel.message(attached)
  })
  const first = view(agent)
  const second = view(agent)
  await first.terminal.attached
  peer.socket.destroy()
  await expect(second.terminal.attached).rejects.toBeInstanceOf(AgentLost)
  expect(first.told).toEqual(['lost'])
  expect(second.told).toEqual([])
  await first.terminal.write(Buffer.from('into the void'))
  await expect(view(agent).terminal.attached).rejects.toBeInstanceOf(AgentLost)
})

test.each<[string, (channel: Channel) => void]>([
  ['output first', (channel) => void channel.write(Buffer.from('early'))],
  ['a size of nothing', (channel) => channel.message({ ...attached, cols: 0 })],
  ['a size without measure', (channel) => channel.message({ ...attached, rows: 1_000_000 })],
  ['a place before the beginning', (channel) => channel.message({ ...attached, offset: -1 })],
  ['a fraction of a column', (channel) => channel.message({ ...attached, cols: 1.5 })],
  ['something else', (channel) => channel.message({ type: 'written', size: 1 })],
  ['its end', (channel) => channel.close()],
])('a terminal that shows %s is not attached', async (_what, answer) => {
  const { agent } = await connectPeer(answer)
  const { terminal, told } = view(agent)
  await expect(terminal.attached).rejects.toMatchObject({ name: 'AgentError', code: 'failed' })
  expect(told).toEqual([])
  expect(agent.callCount).toBe(0)
})

test.each<[string, (channel: Channel) => void]>([
  ['attaches twice', (channel) => channel.message(attached)],
  ['is drawn anew at no place', (channel) => channel.message({ type: 'resync', offset: -1, snapshot_bytes: 1 })],
  ['has a size of nothing', (channel) => channel.message({ type: 'resized', cols: 0, rows: 0 })],
  ['has no code of an exit', (channel) => channel.message({ ...exited, code: 1e9 })],
  ['speaks of files', (channel) => channel.message({ type: 'written', size: 1 })],
  ['is closed without an exit', (channel) => channel.close()],
])('a terminal that %s is lost', async (_what, answer) => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    answer(channel)
  })
  const { told } = view(agent)
  await expect.poll(() => told).toEqual(['lost'])
  expect(agent.callCount).toBe(0)
})

test('an agent that draws anew without end and without output is cut off', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.message(attached)
    for (let count = 0; count < 1000; count++) channel.message({ type: 'resync', offset: 1, snapshot_bytes: 0 })
  })
  const { told } = view(agent, { lossy: true })
  await expect.poll(() => told.at(-1)).toBe('lost')
  expect(told).toHaveLength(101)
})

test('a small piece of output keeps no large read in memory', async () => {
  const { agent, peer } = await connectPeer((channel) => channel.message(attached))
  const pieces: Uint8Array[] = []
  const quiet = { exited: () => {}, lost: () => {} }
  const terminal = agent.terminals.attach(
    { id: 't', lossy: false },
    { ...quiet, output: (bytes) => pieces.push(bytes) },
  )
  await terminal.attached
  // One write, and so most likely one read: a byte for the terminal, and much that nobody waits for.
  const sent: Uint8Array[] = []
  const other = new Channels({ side: 'server', send: (bytes) => sent.push(bytes) > 0 })
  const quietOnes = other.open({}, {})
  void quietOnes.write(Buffer.from('x'))
  void other.open({}, {}).write(Buffer.alloc(30_000))
  const data = sent.filter((frame) => frame[4] !== 1)
  peer.socket.write(Buffer.concat(data))
  await expect.poll(() => pieces.length).toBe(1)
  expect(pieces[0]?.buffer.byteLength).toBe(1)
})
