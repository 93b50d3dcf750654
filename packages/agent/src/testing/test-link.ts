import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { ChannelError } from '@svc/protocol/agent/channel-error'
import { type Channel, Channels } from '@svc/protocol/agent/channels'
import { AgentMessage, type AgentRequest } from '@svc/protocol/agent/requests'

/** Everything that came on a channel. */
export class TestCall {
  readonly channel: Channel
  readonly messages: AgentMessage[] = []
  readonly output: Buffer[] = []
  readonly errors: Buffer[] = []
  readonly closed: Promise<ChannelError | undefined>
  hasEnded = false
  /** When set, bytes are kept but the agent is not told that they were taken. */
  isSlow = false
  #held = 0

  constructor(link: Channels, request: unknown) {
    const { promise, resolve } = Promise.withResolvers<ChannelError | undefined>()
    this.closed = promise
    this.channel = link.open(request, {
      message: (message) => this.messages.push(AgentMessage.parse(message)),
      data: (bytes, kind) => {
        const kept = kind === 'data' ? this.output : this.errors
        kept.push(Buffer.from(bytes))
        if (this.isSlow) this.#held += bytes.length
        else this.channel.consumed(bytes.length)
      },
      ended: () => {
        this.hasEnded = true
      },
      closed: resolve,
    })
  }

  /** Takes what was held, and is quick from now on. */
  hurry(): void {
    this.isSlow = false
    this.channel.consumed(this.#held)
    this.#held = 0
  }

  get bytes(): Buffer {
    return Buffer.concat(this.output)
  }

  get text(): string {
    return this.bytes.toString()
  }

  get errorText(): string {
    return Buffer.concat(this.errors).toString()
  }

  message<T extends AgentMessage['type']>(type: T): Extract<AgentMessage, { type: T }> | undefined {
    return this.messages.find((message): message is Extract<AgentMessage, { type: T }> => message.type === type)
  }
}

/** A server's end of a connection to an agent. */
export class TestLink {
  readonly socket: Socket
  readonly channels: Channels
  readonly hello: Promise<Extract<AgentMessage, { type: 'hello' }>>

  constructor(socket: Socket) {
    this.socket = socket
    this.channels = new Channels({
      side: 'server',
      send: (bytes) => socket.write(bytes),
      failed: (fault) => {
        throw fault
      },
    })
    const { promise, resolve } = Promise.withResolvers<Extract<AgentMessage, { type: 'hello' }>>()
    this.hello = promise
    socket.on('drain', () => this.channels.drained())
    socket.on('data', (chunk) =>
      this.channels.receive(chunk, (message) => {
        const parsed = AgentMessage.parse(message)
        if (parsed.type === 'hello') resolve(parsed)
      }),
    )
    socket.on('error', () => {})
    socket.on('close', () => this.channels.lose({ code: 'failed', message: 'lost' }))
  }

  static async open(path: string): Promise<TestLink> {
    const socket = connect(path)
    await once(socket, 'connect')
    return new TestLink(socket)
  }

  /** Opens a channel. */
  call(request: AgentRequest): TestCall {
    return new TestCall(this.channels, request)
  }

  /** Opens a channel with anything at all. */
  callWith(request: unknown): TestCall {
    return new TestCall(this.channels, request)
  }

  /** Waits for the end of a request; rejects when it failed. */
  async ask(request: AgentRequest): Promise<TestCall> {
    const call = this.call(request)
    const error = await call.closed
    if (error) throw new Error(`${error.code}: ${error.message}`)
    return call
  }

  close(): void {
    this.socket.destroy()
  }
}
