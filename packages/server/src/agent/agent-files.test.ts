import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { Channel } from '@svc/protocol/agent/channels'
import { expect, test } from 'vitest'
import { connectPeer } from '../testing/agent-peer.ts'
import { AgentError, AgentLost } from './agent-error.ts'

const entry = (name: string) => ({ name, is_dir: false, size: 3, mtime: 1, ctime: 2 })
const failed = { name: 'AgentError', code: 'failed' }

/** Takes a file as the real agent does. */
function takeFile(channel: Channel, size?: (received: number) => number): Buffer[] {
  const received: Buffer[] = []
  channel.handlers = {
    data: (bytes) => {
      received.push(Buffer.from(bytes))
      channel.consumed(bytes.length)
    },
    ended: () => {
      const length = Buffer.concat(received).length
      channel.message({ type: 'written', size: size?.(length) ?? length })
    },
    message: (message) => {
      expect(message).toEqual({ type: 'keep' })
      channel.close()
    },
  }
  return received
}

test('simple requests carry their paths', async () => {
  const { agent, peer } = await connectPeer((channel) => channel.close())
  await agent.files.rename('/a', '/b')
  await agent.files.remove('/c')
  await agent.files.makeDirectory('/d')
  expect(peer.requests).toEqual([
    { op: 'files.rename', from: '/a', to: '/b' },
    { op: 'files.remove', path: '/c' },
    { op: 'files.make_directory', path: '/d' },
  ])
})

test('a listing is put together from its pieces', async () => {
  const { agent } = await connectPeer((channel) => {
    channel.message({ type: 'entries', entries: [entry('a'), entry('b\t\n')] })
    channel.message({ type: 'entries', entries: [entry('c')] })
    channel.close()
  })
  expect(await agent.files.list('/')).toEqual([entry('a'), entry('b\t\n'), entry('c')])
})

test('an empty directory is an empty list, said or not', async () => {
  const { agent } = await connectPeer((channel, request) => {
    if (JSON.stringify(request).includes('/said')) channel.message({ type: 'entries', entries: [] })
    channel.close()
  })
  expect(await agent.files.list('/said')).toEqual([])
  expect(await agent.files.list('/unsaid')).toEqual([])
})

test('a listing without end is broken off', async () => {
  const { agent } = await connectPeer((channel) => {
    const many = Array.from({ length: 500 }, () => entry('x'))
    for (let count = 0; count < 201; count++) channel.message({ type: 'entries', entries: many })
  })
  await expect(agent.files.list('/')).rejects.toMatchObject({ name: 'AgentError', code: 'too_many' })
  expect(agent.callCount).toBe(0)
})

test.each([
  ['leads elsewhere', { name: '../../.ssh/authorized_keys' }],
  ['is a way up', { name: '..' }],
  ['is the directory itself', { name: '.' }],
  ['is empty', { name: '' }],
  ['has NUL in it', { name: 'a\0b' }],
  ['is longer than a name can be', { name: 'x'.repeat(256) }],
  ['has a size below nothing', { size: -1 }],
  ['has a part of a byte', { size: 1.5 }],
  ['is from the end of time', { mtime: 1e300 }],
])('a listing with an entry that %s has failed', async (_what, wrong) => {
  const { agent } = await connectPeer((channel) => {
    channel.message({ type: 'entries', entries: [entry('a'), { ...entry('b'), ...wrong }] })
    channel.close()
  })
  await expect(agent.files.list('/')).rejects.toMatchObject(failed)
})

test('the description of a file is held to what a file can be', async () => {
  const { agent } = await connectPeer((channel, request) => {
    const wrong = JSON.stringify(request).includes('/wrong') ? { size: -1 } : {}
    channel.message({ type: 'stat', entry: { ...entry(''), ...wrong } })
    channel.close()
  })
  expect(await agent.files.stat('/')).toEqual(entry(''))
  await expect(agent.files.stat('/wrong')).rejects.toMatchObject(failed)
  await expect(agent.files.read('/wrong')).rejects.toMatchObject(failed)
})

test('a listing that goes on without entries has failed', async () => {
  const { agent } = await connectPeer((channel) => {
    for (let count = 0; count < 3; count++) channel.message({ type: 'entries', entries: [] })
  })
  await expect(agent.files.list('/', { signal: AbortSignal.timeout(5000) })).rejects.toMatchObject(failed)
})

test('a file is described, then read', async () => {
  const { agent } = await connectPeer(async (channel) => {
    channel.message({ type: 'stat', entry: entry('f') })
    await channel.write(Buffer.alloc(1_000_000, 'x'))
    channel.end()
    channel.close()
  })
  const { entry: found, content } = await agent.files.read('/f')
  expect(found).toEqual(entry('f'))
  expect((await buffer(content)).length).toBe(1_000_000)
  expect(await agent.files.stat('/f').catch((error: unknown) => error)).toMatchObject(failed)
})

test('a file that cannot be read says why', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'is_directory', message: 'A directory' }))
  await expect(agent.files.read('/')).rejects.toMatchObject({ name: 'AgentError', code: 'is_directory' })
})

test.each<[string, (channel: Channel) => void]>([
  ['is broken off in peace', (channel) => channel.close()],
  ['is broken off with an error', (channel) => channel.close({ code: 'failed', message: 'The disk is broken' })],
  ['is described twice', (channel) => channel.message({ type: 'stat', entry: entry('f') })],
  ['is interrupted by something else', (channel) => channel.message({ type: 'written', size: 1 })],
])('a file that %s breaks its content', async (_what, then) => {
  const { agent } = await connectPeer((channel) => {
    channel.message({ type: 'stat', entry: entry('f') })
    void channel.write(Buffer.from('abc'))
    then(channel)
  })
  const { content } = await agent.files.read('/f')
  await expect(text(content)).rejects.toBeInstanceOf(AgentError)
  expect(agent.callCount).toBe(0)
})

test.each<[string, (channel: Channel) => void]>([
  ['only bytes', (channel) => void channel.write(Buffer.from('abc'))],
  ['something else', (channel) => channel.message({ type: 'written', size: 1 })],
  ['nothing', (channel) => channel.close()],
  [
    'an end',
    (channel) => {
      channel.end()
      channel.close()
    },
  ],
])('a file of which the agent tells %s cannot be read', async (_what, answer) => {
  const { agent } = await connectPeer(answer)
  await expect(agent.files.read('/f')).rejects.toMatchObject(failed)
  expect(agent.callCount).toBe(0)
})

test('a message in the middle of an archive breaks it', async () => {
  const { agent } = await connectPeer((channel) => channel.message({ type: 'stat', entry: entry('f') }))
  await expect(buffer(agent.files.archive('/d'))).rejects.toMatchObject(failed)
})

test('a reader that goes away ends the request', async () => {
  const closed = Promise.withResolvers<void>()
  const { agent } = await connectPeer((channel) => {
    channel.handlers = { closed: () => closed.resolve() }
    channel.message({ type: 'stat', entry: entry('f') })
    void channel.write(Buffer.alloc(10_000_000))
  })
  const { content } = await agent.files.read('/f')
  for await (const _ of content) break
  await closed.promise
  expect(agent.callCount).toBe(0)
})

test('opening a file can be given up', async () => {
  const { agent } = await connectPeer(() => {})
  const giveUp = new AbortController()
  const reading = agent.files.read('/f', { signal: giveUp.signal })
  giveUp.abort(new Error('enough'))
  await expect(reading).rejects.toThrow('enough')
  expect(getEventListeners(giveUp.signal, 'abort')).toEqual([])
  expect(agent.callCount).toBe(0)
})

test('an archive is a stream of bytes', async () => {
  const { agent, peer } = await connectPeer(async (channel) => {
    await channel.write(Buffer.alloc(700_000))
    channel.end()
    channel.close()
  })
  expect((await buffer(agent.files.archive('/d'))).length).toBe(700_000)
  expect(peer.requests).toEqual([{ op: 'files.archive', path: '/d' }])
})

test('an archive that cannot be made breaks', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_found', message: 'Not found' }))
  await expect(buffer(agent.files.archive('/d'))).rejects.toMatchObject({ code: 'not_found' })
})

test('a file is written from a stream or from pieces', async () => {
  const files: Buffer[][] = []
  const { agent } = await connectPeer((channel) => void files.push(takeFile(channel)))
  expect(await agent.files.write('/a', Readable.from([Buffer.alloc(900_000, 'x'), Buffer.from('end')]))).toEqual({
    size: 900_003,
  })
  const pieces = async function* () {
    yield new Uint8Array([1, 2])
    yield new Uint8Array()
    yield new Uint8Array([3])
  }
  expect(await agent.files.write('/b', pieces())).toEqual({ size: 3 })
  expect(await agent.files.write('/c', Readable.from([]))).toEqual({ size: 0 })
  expect(files.map((file) => Buffer.concat(file).length)).toEqual([900_003, 3, 0])
  expect([...Buffer.concat(files[1] ?? [])]).toEqual([1, 2, 3])
})

test('a file takes its place when the server has done what comes before that, and only then', async () => {
  const heard: unknown[] = []
  const { agent } = await connectPeer((channel) => {
    takeFile(channel)
    const { ended } = channel.handlers
    channel.handlers = {
      ...channel.handlers,
      ended: () => {
        heard.push('ended')
        ended?.()
      },
      message: (message) => {
        heard.push(message)
        channel.close()
      },
      closed: () => heard.push('closed'),
    }
  })
  const source = () => Readable.from([Buffer.from('abc')])
  const beforeKept = async (size: number) => void heard.push(size)
  await agent.files.write('/f', source(), { beforeKept })
  expect(heard.splice(0)).toEqual(['ended', 3, { type: 'keep' }])
  const refusing = async () => {
    throw new Error('no row')
  }
  await expect(agent.files.write('/f', source(), { beforeKept: refusing })).rejects.toThrow('no row')
  await expect.poll(() => heard).toEqual(['ended', 'closed'])
  expect(agent.callCount).toBe(0)
})

test('a source that fails closes the channel before the end, so that nothing is left', async () => {
  const heard: string[] = []
  const { agent } = await connectPeer((channel) => {
    channel.handlers = { ended: () => heard.push('ended'), closed: () => heard.push('closed') }
  })
  const broken = async function* () {
    yield Buffer.from('abc')
    throw new Error('the upload broke off')
  }
  await expect(agent.files.write('/f', broken())).rejects.toThrow('the upload broke off')
  await expect.poll(() => heard).toEqual(['closed'])
})

test('a refusal ends the source at once, though it has nothing to give yet', async () => {
  const { agent } = await connectPeer((channel) => channel.close({ code: 'not_permitted', message: 'No' }))
  const source = new Readable({ read: () => {} })
  await expect(agent.files.write('/f', source)).rejects.toMatchObject({ code: 'not_permitted' })
  expect(source.destroyed).toBe(true)
})

test('a file that is said to be written before it has everything has failed', async () => {
  const { agent } = await connectPeer((channel) => channel.message({ type: 'written', size: 3 }))
  const unending = new Readable({ read: () => {} })
  unending.push('abc')
  await expect(agent.files.write('/f', unending)).rejects.toMatchObject(failed)
  expect(agent.callCount).toBe(0)
})

test('a file that is said to be written with another size has failed', async () => {
  const { agent } = await connectPeer((channel) => void takeFile(channel, () => 2))
  await expect(agent.files.write('/f', Readable.from([Buffer.from('abc')]))).rejects.toMatchObject(failed)
  expect(agent.callCount).toBe(0)
})

test('writing can be given up while the agent takes nothing, and after it took everything', async () => {
  const { agent, peer } = await connectPeer((channel) => {
    channel.handlers = { data: () => {} }
  })
  for (const size of [10_000_000, 10]) {
    const giveUp = new AbortController()
    const source = Readable.from([Buffer.alloc(size)])
    const writing = agent.files.write('/f', source, { signal: giveUp.signal })
    await expect.poll(() => peer.channels.size).toBe(1)
    giveUp.abort(new Error('enough'))
    await expect(writing).rejects.toThrow('enough')
    expect(getEventListeners(giveUp.signal, 'abort')).toEqual([])
    await expect.poll(() => peer.channels.size).toBe(0)
  }
})

test('reading and writing are lost with the connection', async () => {
  const { agent, peer } = await connectPeer((channel, request) => {
    channel.handlers = { data: () => {} }
    if (JSON.stringify(request).includes('read')) channel.message({ type: 'stat', entry: entry('f') })
  })
  const { content } = await agent.files.read('/f')
  const writing = agent.files.write('/f', Readable.from([Buffer.alloc(10_000_000)]))
  await expect.poll(() => peer.requests.length).toBe(2)
  const reading = text(content)
  peer.socket.destroy()
  await expect(reading).rejects.toBeInstanceOf(AgentLost)
  await expect(writing).rejects.toBeInstanceOf(AgentLost)
  await expect(agent.files.write('/f', Readable.from([Buffer.from('x')]))).rejects.toBeInstanceOf(AgentLost)
  await expect(agent.files.read('/f')).rejects.toBeInstanceOf(AgentLost)
  await expect(buffer(agent.files.archive('/d'))).rejects.toBeInstanceOf(AgentLost)
})
