import { buffer, text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import type { Channel } from '@svc/protocol/agent/channels'
import { encodeFrame, INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { expect, test } from 'vitest'
import { connectPeer } from '../testing/agent-peer.ts'
import { AgentError, AgentLost } from './agent-error.ts'

const command = { argv: ['cat'], login: false, cwd: '/', env: {} }
const ok = { type: 'exited', code: 0, signal: null }
const KIB = 1024

const isPing = (request: unknown) => JSON.stringify(request).includes('ping')

/** A command that writes so much, then ends. */
async function writes(channel: Channel, output: { data?: number; errorData?: number }): Promise<void> {
  await Promise.all([
    channel.write(Buffer.alloc(output.data ?? 0, 'o'), 'data'),
    channel.write(Buffer.alloc(output.errorData ?? 0, 'e'), 'errorData'),
  ])
  channel.message(ok)
  channel.close()
}

test('a command gets its input and gives its output, its errors and its exit', async () => {
  const { agent, peer } = await connectPeer((channel) => {
    channel.handlers = {
      data: (bytes) => {
        void channel.write(bytes)
        channel.consumed(bytes.length)
      },
      ended: () => {
        void channel.write(Buffer.from('oops'), 'errorData')
        channel.message({ type: 'exited', code: 130, signal: 'SIGINT' })
        channel.close()
      },
    }
  })
  const exec = agent.exec(command)
  exec.stdin.write('one ')
  exec.stdin.end('two')
  expect(await text(exec.stdout)).toBe('one two')
  expect(await text(exec.stderr)).toBe('oops')
  expect(await exec.exited).toEqual({ code: 130, signal: 'SIGINT' })
  expect(peer.requests).toEqual([{ op: 'exec', ...command }])
  expect(exec.stdin.destroyed).toBe(true)
  expect(agent.callCount).toBe(0)
})

test('input waits for a command that takes none', async () => {
  const channels: Channel[] = []
  const { agent } = await connectPeer((channel, request) => {
    channel.handlers = { data: () => {} }
    if (isPing(request)) channel.close()
    else channels.push(channel)
  })
  const { stdin } = agent.exec(command)
  const piece = Buffer.alloc(64 * KIB)
  let written = 0
  const write = () => {
    stdin.write(piece, (error) => {
      if (error) return
      written += piece.length
      write()
    })
  }
  write()
  await expect.poll(() => written).toBe(INITIAL_CREDIT)
  await agent.ping()
  expect(written).toBe(INITIAL_CREDIT)
  channels[0]?.consumed(INITIAL_CREDIT)
  await expect.poll(() => written).toBe(2 * INITIAL_CREDIT)
  stdin.destroy()
})

test('closing the input early is the end of it', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.handlers = {
      ended: () => {
        channel.message(ok)
        channel.close()
      },
    }
  })
  const exec = agent.exec(command)
  exec.stdin.destroy()
  await exec.exited
})

test('output waits for its reader, and the rest of the connection does not', async () => {
  let sent = 0
  const { agent } = await connectPeer(async (channel, request) => {
    if (isPing(request)) return channel.close()
    for (const piece of Array.from({ length: 100 }, () => Buffer.alloc(64 * KIB))) {
      await channel.write(piece)
      sent += piece.length
    }
    channel.message(ok)
    channel.close()
  })
  const exec = agent.exec(command)
  await expect.poll(() => sent).toBe(INITIAL_CREDIT)
  for (let count = 0; count < 20; count++) await agent.ping()
  expect(sent).toBe(INITIAL_CREDIT)
  expect((await buffer(exec.stdout)).length).toBe(100 * 64 * KIB)
  expect(await exec.exited).toEqual({ code: 0, signal: null })
})

test('reading both gives everything, in whichever order it came', async () => {
  const { agent } = await connectPeer((channel) => void writes(channel, { data: 3_000_000, errorData: 2_000_000 }))
  const exec = agent.exec(command)
  const [output, errors] = await Promise.all([buffer(exec.stdout), buffer(exec.stderr)])
  expect([output.length, errors.length]).toEqual([3_000_000, 2_000_000])
  expect(output.every((byte) => byte === 0x6f)).toBe(true)
})

test.each([
  ['output', 'stdout', 'stderr'],
  ['errors', 'stderr', 'stdout'],
] as const)('whoever reads only the %s gets all of them, however much of the other there is', async (_, read, left) => {
  const { agent } = await connectPeer((channel) => void writes(channel, { data: 3_000_000, errorData: 3_000_000 }))
  const exec = agent.exec(command)
  expect((await buffer(exec[read])).length).toBe(3_000_000)
  await exec.exited
  // It was given up: a late reader sees that, not a part of it that looks whole.
  await expect(buffer(exec[left])).rejects.toThrow('Premature close')
})

test('a little that nobody read can still be read when the command has ended', async () => {
  const { agent } = await connectPeer((channel) => void writes(channel, { data: 1_000_000, errorData: 128 * KIB }))
  const exec = agent.exec(command)
  expect((await buffer(exec.stdout)).length).toBe(1_000_000)
  await exec.exited
  expect((await buffer(exec.stderr)).length).toBe(128 * KIB)
})

test('a stream that is destroyed holds up nothing', async () => {
  const { agent } = await connectPeer((channel) => void writes(channel, { data: 2_000_000, errorData: 2_000_000 }))
  const exec = agent.exec(command)
  exec.stdout.destroy()
  exec.stderr.destroy()
  expect(await exec.exited).toEqual({ code: 0, signal: null })
})

test('a hundred thousand single bytes are held in a few pieces', async () => {
  const { agent, peer } = await connectPeer((channel) => {
    const byte = encodeFrame({ kind: 'data', channel: channel.id, payload: Buffer.from('x') })
    peer.socket.write(Buffer.concat(Array.from({ length: 100_000 }, () => byte)))
    channel.message(ok)
    channel.close()
  })
  const exec = agent.exec(command)
  await exec.exited
  const pieces: Buffer[] = []
  for await (const piece of exec.stdout) pieces.push(piece)
  expect(Buffer.concat(pieces)).toHaveLength(100_000)
  expect(pieces.length).toBeLessThan(20)
})

test('signals and closing reach the command', async () => {
  const heard: unknown[] = []
  const { agent } = await connectPeer((channel) => {
    channel.handlers = { message: (message) => heard.push(message), closed: (error) => heard.push(['closed', error]) }
  })
  const exec = agent.exec(command)
  exec.signal('SIGINT')
  exec.close()
  exec.close()
  await expect(exec.exited).rejects.toBeInstanceOf(AgentError)
  await expect.poll(() => heard).toEqual([{ type: 'signal', signal: 'SIGINT' }, ['closed', undefined]])
  expect([exec.stdin.destroyed, exec.stdout.destroyed, exec.stderr.destroyed]).toEqual([true, true, true])
})

test('a command that cannot be run says why, in every way it is looked at', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_found', message: 'No such program' }))
  const exec = agent.exec(command)
  const refusal = { name: 'AgentError', code: 'not_found', message: 'No such program' }
  await expect(text(exec.stdout)).rejects.toMatchObject(refusal)
  await expect(finished(exec.stderr)).rejects.toMatchObject(refusal)
  await expect(exec.exited).rejects.toMatchObject(refusal)
})

test('a command is lost with the connection, and nobody has to be there to hear it', async () => {
  const { agent, peer } = await connectPeer((channel) => void channel.write(Buffer.from('part')))
  const unheard = agent.exec(command)
  const exec = agent.exec(command)
  exec.stdin.write('x')
  const reading = text(exec.stdout)
  await expect.poll(() => peer.requests.length).toBe(2)
  peer.socket.destroy()
  await expect(reading).rejects.toBeInstanceOf(AgentLost)
  await expect(exec.exited).rejects.toBeInstanceOf(AgentLost)
  expect(unheard.stdout.destroyed).toBe(true)
})

test.each<[string, (channel: Channel) => void]>([
  ['closes without an exit', (channel) => channel.close()],
  [
    'exits twice',
    (channel) => {
      for (const exit of [ok, ok]) channel.message(exit)
    },
  ],
  [
    'writes after its exit',
    (channel) => {
      channel.message(ok)
      void channel.write(Buffer.from('late'))
    },
  ],
  ['exits with no code of an exit', (channel) => channel.message({ ...ok, code: -1 })],
  ['is ended by no signal', (channel) => channel.message({ ...ok, signal: 'SIG'.repeat(100) })],
  ['speaks of files', (channel) => channel.message({ type: 'written', size: 1 })],
])('a command that %s has failed', async (_what, answer) => {
  const { agent } = await connectPeer(answer)
  const exec = agent.exec(command)
  await expect(exec.exited).rejects.toMatchObject({ name: 'AgentError', code: 'failed' })
  await expect(text(exec.stdout)).rejects.toBeInstanceOf(AgentError)
  expect(agent.callCount).toBe(0)
})
