import type { Channel } from '@svc/protocol/agent/channels'
import { encodeFrame } from '@svc/protocol/agent/frames'
import { expect, test } from 'vitest'
import { type AgentPeer, connectPeer } from '../../testing/agent-peer.ts'
import type { ExecExit } from './exec-voice.ts'
import { KILLED, LiveExec } from './live-exec.ts'

const KIB = 1024
const command = { argv: ['cat'], login: false, cwd: '/', env: {} }

/** A command of an agent that does as the test says. Its client takes nothing until it is told to. */
async function run(behave: (channel: Channel, peer: AgentPeer) => void) {
  const told: (string | ExecExit)[] = []
  const pieces: { readonly bytes: number; readonly sent: () => void }[] = []
  let activity = 0
  let ended = 0
  const { agent, peer } = await connectPeer((channel) => behave(channel, peer))
  const live = new LiveExec({
    exec: agent.exec(command),
    hold: () => () => {},
    voice: {
      output: (stream, bytes, sent) => {
        told.push(`${stream} ${bytes.length > 100 ? 'bulk' : Buffer.from(bytes).toString()}`)
        pieces.push({ bytes: bytes.length, sent })
      },
      exit: (exit) => told.push(exit),
    },
    errors: 'stderr',
    active: () => activity++,
    ended: () => ended++,
  })
  const done = live.run()
  const total = () => pieces.reduce((sum, { bytes }) => sum + bytes, 0)
  return { live, told, pieces, total, done, agent, peer, activity: () => activity, ended: () => ended }
}

test('an agent that sends more at once than agreed is cut to size', async () => {
  const { told, total, pieces, done } = await run((channel, peer) => {
    peer.socket.write(encodeFrame({ kind: 'data', channel: channel.id, payload: Buffer.alloc(250 * KIB) }))
    channel.message({ type: 'exited', code: 0, signal: null })
    channel.close()
  })
  await done
  expect(total()).toBe(250 * KIB)
  expect(Math.max(...pieces.map(({ bytes }) => bytes))).toBeLessThanOrEqual(64 * KIB)
  expect(told.at(-1)).toEqual({ code: 0 })
})

test('no more than 256 KiB are on their way at once, and the last piece of them', async () => {
  const { told, total, pieces, done } = await run(async (channel) => {
    await channel.write(Buffer.alloc(1024 * KIB))
    channel.message({ type: 'exited', code: 0, signal: null })
    channel.close()
  })
  let arrived = 0
  for (let next = 0; arrived < 1024 * KIB; next++) {
    await expect.poll(total).toBeGreaterThanOrEqual(Math.min(arrived + 256 * KIB, 1024 * KIB))
    expect(total()).toBeLessThan(arrived + 320 * KIB)
    arrived += pieces[next]?.bytes ?? 0
    pieces[next]?.sent()
  }
  await done
  expect(total()).toBe(1024 * KIB)
  expect(told.at(-1)).toEqual({ code: 0 })
})

test('an agent that refuses is told in words, and as a command that could not be run', async () => {
  const { told, done, ended } = await run((channel) => channel.close({ code: 'bad_request', message: 'Not like that' }))
  await done
  expect(told).toEqual(['stderr svc: Not like that\n', { code: 126 }])
  expect(ended()).toBe(1)
})

test('an agent that is gone took the command with it', async () => {
  const { told, done, peer } = await run(() => {})
  peer.socket.destroy()
  await done
  expect(told).toEqual([KILLED])
})

test('a command that is killed says nothing more, though there is more', async () => {
  const { live, told, pieces, total, done, activity, ended, agent } = await run((channel) => {
    void channel.write(Buffer.alloc(1024 * KIB))
  })
  await expect.poll(total).toBeGreaterThanOrEqual(256 * KIB)
  const before = pieces.length
  live.kill(KILLED)
  live.kill({ code: 1 })
  live.abandon()
  for (const { sent } of pieces) sent()
  await done
  expect(told.slice(before)).toEqual([KILLED])
  expect([activity(), ended(), agent.callCount]).toEqual([before, 1, 0])
})

test('what is killed gets the signal first, so that nothing of it has time for more', async () => {
  const heard: unknown[] = []
  const { live } = await run((channel) => {
    channel.handlers = { message: (message) => heard.push(message), closed: () => heard.push('closed') }
  })
  live.kill(KILLED)
  await expect.poll(() => heard).toEqual([{ type: 'signal', signal: 'SIGKILL' }, 'closed'])
})

test('a fault of ours ends the command, is told without its words, and is not hidden', async () => {
  const { agent } = await connectPeer((channel) => void channel.write(Buffer.from('hello')))
  const told: ExecExit[] = []
  const live = new LiveExec({
    exec: agent.exec(command),
    hold: () => () => {},
    voice: {
      output: () => {
        throw new Error('a fault')
      },
      exit: (exit) => told.push(exit),
    },
    errors: 'stderr',
    active: () => {},
    ended: () => {},
  })
  await expect(live.run()).rejects.toThrow('a fault')
  expect(told).toEqual([KILLED])
  expect(agent.callCount).toBe(0)
})
