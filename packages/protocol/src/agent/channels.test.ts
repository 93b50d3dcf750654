import { describe, expect, test } from 'vitest'
import type { ChannelError } from './channel-error.ts'
import { type Channel, type ChannelHandlers, Channels } from './channels.ts'
import { BrokenFrame, DATA_CHUNK_BYTES, encodeFrame, type FrameKind, FrameReader, INITIAL_CREDIT } from './frames.ts'
import { encodeJson } from './json-bytes.ts'

/** Two sides joined by a line that carries nothing until `deliver`, so that a test sees each step. */
class Line {
  readonly server: Channels
  readonly agent: Channels
  readonly toAgent: Uint8Array[] = []
  readonly toServer: Uint8Array[] = []
  readonly accepted: { channel: Channel; request: unknown }[] = []
  /** When set, the server's transport wants no more. */
  isFull = false

  constructor(handlers: ChannelHandlers = {}) {
    this.server = new Channels({
      side: 'server',
      send: (bytes) => {
        this.toAgent.push(bytes)
        return !this.isFull
      },
    })
    this.agent = new Channels({
      side: 'agent',
      send: (bytes) => this.toServer.push(bytes) > 0,
      opened: (channel, request) => {
        channel.handlers = handlers
        this.accepted.push({ channel, request })
      },
    })
  }

  deliver(): void {
    while (this.toAgent.length + this.toServer.length > 0) {
      for (const bytes of this.toAgent.splice(0)) this.agent.receive(bytes)
      for (const bytes of this.toServer.splice(0)) this.server.receive(bytes)
    }
  }
}

const sizes = (sent: readonly Uint8Array[]) =>
  sent.flatMap((bytes) => new FrameReader().push(bytes)).map(({ kind, payload }) => [kind, payload.length])

test('a request, its messages, bytes in both directions and its end', async () => {
  const heard: unknown[] = []
  const line = new Line({
    message: (message) => heard.push(message),
    data: (bytes, kind) => heard.push([kind, [...bytes]]),
    ended: () => heard.push('ended'),
  })
  const answers: unknown[] = []
  const channel = line.server.open(
    { op: 'try' },
    {
      message: (message) => answers.push(message),
      data: (bytes, kind) => answers.push([kind, [...bytes]]),
      closed: (error) => answers.push(['closed', error]),
    },
  )
  channel.message({ type: 'resize' })
  await channel.write(Uint8Array.of(1, 2))
  channel.end()
  line.deliver()
  expect(line.accepted[0]?.request).toEqual({ op: 'try' })
  expect(heard).toEqual([{ type: 'resize' }, ['data', [1, 2]], 'ended'])
  const other = line.accepted[0]?.channel
  await other?.write(Uint8Array.of(3), 'errorData')
  other?.close()
  line.deliver()
  expect(answers).toEqual([
    ['errorData', [3]],
    ['closed', undefined],
  ])
  expect([line.server.size, line.agent.size]).toEqual([0, 0])
})

describe('credit', () => {
  test('a sender stops when it is spent, and goes on as it is given back', async () => {
    const line = new Line({ data: () => {} })
    let isSent = false
    const channel = line.server.open({}, {})
    void channel.write(new Uint8Array(INITIAL_CREDIT + 10)).then(() => (isSent = true))
    line.deliver()
    await Promise.resolve()
    expect(isSent).toBe(false)
    line.accepted[0]?.channel.consumed(INITIAL_CREDIT)
    line.deliver()
    await Promise.resolve()
    expect(isSent).toBe(true)
  })

  test('small pieces that are dealt with do not cost a frame each', () => {
    const line = new Line({ data: () => {} })
    void line.server.open({}, {}).write(new Uint8Array(1000))
    line.deliver()
    for (let piece = 0; piece < 100; piece++) line.accepted[0]?.channel.consumed(10)
    expect(line.toServer).toHaveLength(0)
  })

  test('who sends more than there is credit for breaks the protocol', () => {
    const line = new Line({ data: () => {} })
    line.server.open({}, {})
    line.deliver()
    const chunk = encodeFrame({ kind: 'data', channel: 1, payload: new Uint8Array(DATA_CHUNK_BYTES) })
    for (let sent = 0; sent < INITIAL_CREDIT; sent += DATA_CHUNK_BYTES) line.agent.receive(chunk)
    expect(() => line.agent.receive(chunk)).toThrow(BrokenFrame)
  })

  test('bytes that nobody listens to are given back at once', async () => {
    const line = new Line()
    const channel = line.server.open({}, {})
    const sent = channel.write(new Uint8Array(3 * INITIAL_CREDIT))
    line.deliver()
    await expect(sent).resolves.toBeUndefined()
  })
})

describe('a transport that is full', () => {
  test('holds bytes back, and channels then take turns, a chunk each', () => {
    const line = new Line()
    line.isFull = true
    const [one, two] = [line.server.open({}, {}), line.server.open({}, {})]
    line.deliver()
    void one.write(new Uint8Array(2 * DATA_CHUNK_BYTES))
    void two.write(new Uint8Array(2 * DATA_CHUNK_BYTES), 'errorData')
    expect(line.toAgent).toHaveLength(0)
    line.isFull = false
    line.server.drained()
    expect(sizes(line.toAgent)).toEqual([
      ['data', DATA_CHUNK_BYTES],
      ['errorData', DATA_CHUNK_BYTES],
      ['data', DATA_CHUNK_BYTES],
      ['errorData', DATA_CHUNK_BYTES],
    ])
  })

  test('still carries messages', () => {
    const line = new Line()
    line.isFull = true
    const channel = line.server.open({}, {})
    channel.message({ type: 'signal' })
    expect(sizes(line.toAgent).map(([kind]) => kind)).toEqual(['open', 'message'])
  })
})

describe('closing', () => {
  test('drops what was not sent, and lets its writers go', async () => {
    const line = new Line({ data: () => {} })
    const channel = line.server.open({}, {})
    const sent = channel.write(new Uint8Array(2 * INITIAL_CREDIT))
    channel.close()
    await expect(sent).resolves.toBeUndefined()
    await expect(channel.write(Uint8Array.of(1))).resolves.toBeUndefined()
    line.deliver()
    expect([line.server.size, line.agent.size]).toEqual([0, 0])
  })

  test('frames that were under way to a closed channel are passed over', () => {
    const line = new Line()
    const channel = line.server.open({}, {})
    line.deliver()
    line.accepted[0]?.channel.message({ type: 'late' })
    channel.close()
    expect(() => line.deliver()).not.toThrow()
  })

  test.each<[unknown, ChannelError]>([
    [
      { code: 'exists', message: 'There is one' },
      { code: 'exists', message: 'There is one' },
    ],
    [
      { code: 'novel', message: 7 },
      { code: 'failed', message: 'It failed for a reason that was not given' },
    ],
    [null, { code: 'failed', message: 'It failed for a reason that was not given' }],
  ])('an error of %j is told as %j', (sent, told) => {
    const line = new Line()
    const errors: unknown[] = []
    line.server.open({}, { closed: (error) => errors.push(error) })
    line.server.receive(encodeFrame({ kind: 'close', channel: 1, payload: encodeJson(sent) }))
    expect(errors).toEqual([told])
  })

  test('a close that cannot be read still ends the channel, with the connection', () => {
    const line = new Line()
    const errors: unknown[] = []
    line.server.open({}, { closed: (error) => errors.push(error) })
    const broken = encodeFrame({ kind: 'close', channel: 1, payload: Uint8Array.of(0x7b) })
    expect(() => line.server.receive(broken)).toThrow(BrokenFrame)
    line.server.lose({ code: 'failed', message: 'lost' })
    expect(errors).toEqual([{ code: 'failed', message: 'lost' }])
  })

  test('a lost connection ends every channel once, also those opened later', () => {
    const line = new Line()
    const errors: unknown[] = []
    const closed = (error: ChannelError | undefined) => errors.push(error?.message)
    line.server.open({}, { closed })
    line.server.lose({ code: 'failed', message: 'lost' })
    line.server.lose({ code: 'failed', message: 'lost again' })
    line.server.open({}, { closed })
    expect(errors).toEqual(['lost', 'lost again'])
    expect(line.server.size).toBe(0)
  })
})

describe('what the other side must not do', () => {
  const frame = (kind: FrameKind, channel: number, payload: Uint8Array = encodeJson({})) =>
    encodeFrame({ kind, channel, payload })

  test.each([
    ['open channel 0', [frame('open', 0)]],
    ['open a channel with a number of ours', [frame('open', 2)]],
    ['open a channel twice', [frame('open', 3), frame('open', 3)]],
    ['open channels out of order', [frame('open', 3), frame('open', 1)]],
    ['open with what is not JSON', [frame('open', 1, Uint8Array.of(0xff))]],
    ['say what is not JSON', [frame('open', 1), frame('message', 1, Uint8Array.of(0xff))]],
    ['give credit of no size', [frame('open', 1), frame('credit', 1, Uint8Array.of(1))]],
    ['end twice', [frame('open', 1), frame('end', 1), frame('end', 1)]],
    ['send bytes after the end', [frame('open', 1), frame('end', 1), frame('data', 1)]],
  ])('%s', (_, frames) => {
    const line = new Line()
    expect(() => {
      for (const bytes of frames) line.agent.receive(bytes)
    }).toThrow(BrokenFrame)
  })

  test('channel 0 cannot be opened by the agent either', () => {
    expect(() => new Line().server.receive(frame('open', 0))).toThrow(BrokenFrame)
  })

  test('more channels than a side takes are refused one by one', () => {
    const line = new Line()
    const errors: unknown[] = []
    for (let count = 0; count < 1030; count++) line.server.open({}, { closed: (error) => errors.push(error?.code) })
    line.deliver()
    expect(errors).toEqual(Array.from({ length: 6 }, () => 'too_many'))
    line.accepted[0]?.channel.close()
    line.deliver()
    line.server.open({}, { closed: (error) => errors.push(error?.code) })
    line.deliver()
    expect(errors.slice(6)).toEqual([undefined])
    expect(line.agent.size).toBe(1024)
  })
})

test('a request that is too long fails alone', () => {
  const line = new Line()
  const errors: unknown[] = []
  line.server.open({ argv: ['x'.repeat(2_000_000)] }, { closed: (error) => errors.push(error) })
  expect(errors).toEqual([{ code: 'bad_request', message: 'The request is too long' }])
  expect(line.toAgent).toHaveLength(0)
  line.server.open({ op: 'ping' }, {})
  line.deliver()
  expect(line.accepted).toHaveLength(1)
})

describe('a handler that throws', () => {
  const fault = new Error('a fault of ours')
  const FAILED = { code: 'failed', message: 'It failed for a reason that is not known' }
  const frame = (kind: FrameKind, channel: number, payload: Uint8Array = encodeJson({})) =>
    encodeFrame({ kind, channel, payload })
  const fail = () => {
    throw fault
  }

  /** An agent's side on which channel 1 fails as told, and channel 3 pings back. */
  function agentWith(handlers: ChannelHandlers | 'opened') {
    const faults: unknown[] = []
    const sent: Uint8Array[] = []
    const agent = new Channels({
      side: 'agent',
      send: (bytes) => sent.push(bytes) > 0,
      opened: (channel) => {
        if (channel.id === 1 && handlers === 'opened') fail()
        if (channel.id === 3) channel.handlers = { message: () => channel.message('alive') }
        else if (handlers !== 'opened') channel.handlers = handlers
      },
      failed: (thrown) => faults.push(thrown),
    })
    const said = () =>
      sent.flatMap((bytes) => new FrameReader().push(bytes)).map(({ kind, channel }) => `${kind} ${channel}`)
    return { agent, faults, said }
  }

  test.each([
    ['opened', 'opened' as const, undefined],
    ['message', { message: fail }, frame('message', 1)],
    ['data', { data: fail }, frame('data', 1)],
    ['ended', { ended: fail }, frame('end', 1)],
  ])('%s ends its channel for both sides, and no other', (_, handlers, bytes) => {
    const closed: unknown[] = []
    const owner = handlers === 'opened' ? handlers : { ...handlers, closed: (error: unknown) => closed.push(error) }
    const { agent, faults, said } = agentWith(owner)
    agent.receive(frame('open', 1))
    agent.receive(frame('open', 3))
    if (bytes) agent.receive(bytes)
    agent.receive(frame('message', 3))
    expect(faults).toEqual([fault])
    expect(said()).toEqual(['close 1', 'message 3'])
    expect(closed).toEqual(handlers === 'opened' ? [] : [FAILED])
    expect(agent.size).toBe(1)
  })

  test('closed is the last of its channel alone', () => {
    const { agent, faults, said } = agentWith({ message: fail, closed: fail })
    agent.receive(frame('open', 1))
    agent.receive(frame('open', 3))
    agent.receive(frame('open', 5))
    agent.receive(frame('message', 5))
    agent.receive(frame('close', 1, new Uint8Array()))
    agent.receive(frame('message', 3))
    expect(faults).toEqual([fault, fault, fault])
    expect(said()).toEqual(['close 5', 'message 3'])
    expect(agent.size).toBe(1)
  })

  test('closed does not keep the others from hearing that the connection is lost', () => {
    const line = new Line()
    const errors: unknown[] = []
    line.server.open({}, { closed: fail })
    line.server.open({}, { closed: (error) => errors.push(error?.message) })
    line.server.lose({ code: 'failed', message: 'lost' })
    expect(errors).toEqual(['lost'])
    expect(line.server.size).toBe(0)
  })
})
