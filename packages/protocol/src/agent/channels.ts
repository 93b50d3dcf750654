import { type ChannelError, channelErrorCodes } from './channel-error.ts'
import {
  BrokenFrame,
  DATA_CHUNK_BYTES,
  encodeFrame,
  type Frame,
  FrameReader,
  INITIAL_CREDIT,
  MAX_PAYLOAD_BYTES,
  type Room,
} from './frames.ts'
import { decodeJson, encodeJson } from './json-bytes.ts'

/** Channels the other side may have open at once; more are refused, so that a fault cannot eat the memory. */
const MAX_OPEN_CHANNELS = 1024
/** Credit is given back in pieces of at least this size: a frame for each small read would be waste. */
const CREDIT_STEP = INITIAL_CREDIT / 4
const MAX_CHANNEL = 0xffff_ffff
const NOTHING = new Uint8Array()
const FAULT: ChannelError = { code: 'failed', message: 'It failed for a reason that is not known' }

/** What the owner of a channel is told. Not called again after `closed`. One that throws ends its channel, and no other. */
export interface ChannelHandlers {
  message?(message: unknown): void
  /** The owner says `consumed` when the bytes are dealt with; until then the sender is held back in the end. */
  data?(bytes: Uint8Array, kind: 'data' | 'errorData'): void
  /** The other side has no more bytes. */
  ended?(): void
  /** The other side closed the channel, the connection is lost, or a handler threw. Undefined when all went well. */
  closed?(error: ChannelError | undefined): void
}

export interface ChannelsOptions {
  /** Decides who numbers new channels how. */
  readonly side: 'server' | 'agent'
  /** Memory for the next frame, which is handed to `send` at once; absent: new memory for each. */
  room?: Room
  /** Hands bytes to the transport; false when it wants no more until `drained`. */
  send(bytes: Uint8Array): boolean
  /** The other side opened a channel: set `channel.handlers` before returning, or close it. Absent: it may open none. */
  opened?(channel: Channel, request: unknown): void
  /** A handler threw: a fault of ours, which the other side is told no more of than that there was one. */
  failed?(fault: unknown): void
}

/**
 * Many channels over one byte stream, the same on both sides. Knows nothing of sockets: the owner feeds it what arrives
 * and takes what it sends.
 */
export class Channels {
  readonly #options: ChannelsOptions
  readonly #reader = new FrameReader()
  readonly #open = new Map<number, Channel>()
  /** Channels that have bytes to send, in the order in which they take turns. */
  readonly #waiting = new Set<Channel>()
  #nextOwn: number
  /** Channel 0 is never opened. */
  #lastOther = 0
  #othersOpen = 0
  #isFull = false
  #lost: ChannelError | undefined

  constructor(options: ChannelsOptions) {
    this.#options = options
    this.#nextOwn = options.side === 'server' ? 1 : 2
  }

  /** Channels that are open, for tests and for people who look for leaks. */
  get size(): number {
    return this.#open.size
  }

  open(request: unknown, handlers: ChannelHandlers): Channel {
    const channel = new Channel(this.#nextOwn, this.#outlet)
    this.#nextOwn += 2
    channel.handlers = handlers
    const payload = encodeJson(request)
    const refusal = this.#lost ?? this.#objectionTo(channel.id, payload)
    if (refusal) {
      channel.lose(refusal)
      return channel
    }
    this.#open.set(channel.id, channel)
    this.#sendFrame({ kind: 'open', channel: channel.id, payload })
    return channel
  }

  /** A message that belongs to no request, on channel 0. */
  announce(message: unknown): void {
    this.#sendFrame({ kind: 'message', channel: 0, payload: encodeJson(message) })
  }

  /**
   * Takes what arrived. Throws `BrokenFrame` when the other side does not keep to the protocol; the connection must be
   * ended then. `announced` gets messages of channel 0.
   */
  receive(chunk: Uint8Array, announced?: (message: unknown) => void): void {
    for (const frame of this.cut(chunk)) this.take(frame, announced)
  }

  /** The first half of `receive`, for a side that deals with frames in turns. */
  cut(chunk: Uint8Array): Frame[] {
    return this.#reader.push(chunk)
  }

  /** The second half. */
  take(frame: Frame, announced?: (message: unknown) => void): void {
    if (frame.channel === 0 && frame.kind === 'message') announced?.(decodeJson(frame.payload))
    else if (frame.kind === 'open') this.#accept(frame)
    else {
      const channel = this.#open.get(frame.channel)
      if (channel) channel.receive(frame)
      // A frame for a channel that we closed may still have been under way.
      else if (!this.#wasOpened(frame.channel)) throw new BrokenFrame(`channel ${frame.channel} was never opened`)
    }
  }

  /** The transport takes bytes again. */
  drained(): void {
    this.#isFull = false
    while (!this.#isFull) {
      const [next] = this.#waiting
      if (!next) return
      // To the end of the line: channels take turns, a chunk each.
      this.#waiting.delete(next)
      if (next.sendChunk()) this.#waiting.add(next)
    }
  }

  /** The connection is gone: every channel ends with this error. */
  lose(error: ChannelError): void {
    this.#lost = error
    this.#waiting.clear()
    for (const channel of [...this.#open.values()]) channel.lose(error)
    this.#open.clear()
  }

  /** What would break the connection for everybody fails alone. */
  #objectionTo(id: number, payload: Uint8Array): ChannelError | undefined {
    if (payload.length > MAX_PAYLOAD_BYTES) return { code: 'bad_request', message: 'The request is too long' }
    if (id > MAX_CHANNEL) return { code: 'too_many', message: 'The connection has no numbers left for new requests' }
    return undefined
  }

  #isOfOther(id: number): boolean {
    return id % 2 === (this.#options.side === 'server' ? 0 : 1)
  }

  #wasOpened(id: number): boolean {
    return id > 0 && (this.#isOfOther(id) ? id <= this.#lastOther : id < this.#nextOwn)
  }

  #accept({ channel: id, payload }: Frame): void {
    const { opened } = this.#options
    if (!opened) throw new BrokenFrame('a request to a side that takes none')
    if (!this.#isOfOther(id) || id <= this.#lastOther) throw new BrokenFrame(`channel ${id} cannot be opened`)
    this.#lastOther = id
    const channel = new Channel(id, this.#outlet)
    const request = decodeJson(payload)
    this.#open.set(id, channel)
    this.#othersOpen++
    if (this.#othersOpen > MAX_OPEN_CHANNELS) {
      channel.close({ code: 'too_many', message: 'Too much is being asked at once' })
    } else {
      channel.guard(() => opened(channel, request))
    }
  }

  readonly #outlet: Outlet = {
    frame: (frame) => this.#sendFrame(frame),
    hasBytes: (channel) => {
      this.#waiting.add(channel)
      if (!this.#isFull) this.drained()
    },
    closed: (channel) => {
      if (!this.#open.delete(channel.id)) return
      this.#waiting.delete(channel)
      if (this.#isOfOther(channel.id)) this.#othersOpen--
    },
    failed: (fault) => this.#options.failed?.(fault),
  }

  #sendFrame(frame: Frame): void {
    if (this.#lost) return
    if (!this.#options.send(encodeFrame(frame, this.#options.room))) this.#isFull = true
  }
}

/** What a channel needs of the connection. */
interface Outlet {
  frame(frame: Frame): void
  hasBytes(channel: Channel): void
  closed(channel: Channel): void
  failed(fault: unknown): void
}

interface Piece {
  readonly kind: 'data' | 'errorData'
  readonly bytes: Uint8Array
  readonly sent: () => void
}

/** One request and everything that belongs to it. */
export class Channel {
  readonly id: number
  handlers: ChannelHandlers = {}
  readonly #outlet: Outlet
  readonly #pieces: Piece[] = []
  #credit = INITIAL_CREDIT
  /** What the other side may still send us. */
  #granted = INITIAL_CREDIT
  #consumed = 0
  #isEnding = false
  #hasOtherEnded = false
  #isClosed = false

  constructor(id: number, outlet: Outlet) {
    this.id = id
    this.#outlet = outlet
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  message(message: unknown): void {
    if (!this.#isClosed) this.#outlet.frame({ kind: 'message', channel: this.id, payload: encodeJson(message) })
  }

  /**
   * Sends bytes as the other side is ready for them. Resolves when the last of them has gone out, or the channel is
   * closed. Whoever waits for that before reading on has back-pressure.
   */
  write(bytes: Uint8Array, kind: Piece['kind'] = 'data'): Promise<void> {
    if (this.#isClosed || this.#isEnding || bytes.length === 0) return Promise.resolve()
    return new Promise((sent) => {
      this.#pieces.push({ kind, bytes, sent })
      if (this.#credit > 0) this.#outlet.hasBytes(this)
    })
  }

  /** No more bytes will come, once those given have gone out. */
  end(): void {
    if (this.#isClosed || this.#isEnding) return
    this.#isEnding = true
    this.#sendEnd()
  }

  /** The bytes that arrived are dealt with: the other side may send as many more. */
  consumed(bytes: number): void {
    this.#consumed += bytes
    if (this.#isClosed || this.#consumed < CREDIT_STEP) return
    const payload = new Uint8Array(4)
    new DataView(payload.buffer).setUint32(0, this.#consumed)
    this.#granted += this.#consumed
    this.#consumed = 0
    this.#outlet.frame({ kind: 'credit', channel: this.id, payload })
  }

  /** Ends the channel in both directions; what was not sent yet is dropped. */
  close(error?: ChannelError): void {
    if (this.#isClosed) return
    this.#outlet.frame({ kind: 'close', channel: this.id, payload: error ? encodeJson(error) : NOTHING })
    this.#finish()
  }

  /** @internal The connection is lost. */
  lose(error: ChannelError): void {
    if (this.#isClosed) return
    this.#finish()
    this.guard(() => this.handlers.closed?.(error))
  }

  /** @internal Calls the owner. What it throws ends the channel, for both sides. */
  guard(tell: () => void): void {
    try {
      tell()
    } catch (fault) {
      this.#outlet.failed(fault)
      if (this.#isClosed) return
      this.close(FAULT)
      this.guard(() => this.handlers.closed?.(FAULT))
    }
  }

  /** @internal */
  receive({ kind, payload }: Frame): void {
    if (kind === 'message') this.#hear(decodeJson(payload))
    else if (kind === 'data' || kind === 'errorData') this.#take(payload, kind)
    else if (kind === 'end') this.#takeEnd()
    else if (kind === 'credit') this.#earn(payload)
    else if (kind === 'close') {
      const error = payload.length === 0 ? undefined : asError(decodeJson(payload))
      this.#finish()
      this.guard(() => this.handlers.closed?.(error))
    }
  }

  /** @internal Sends the next chunk; true when there is more that may be sent. */
  sendChunk(): boolean {
    const piece = this.#pieces[0]
    if (!piece || this.#credit <= 0) return false
    const size = Math.min(piece.bytes.length, this.#credit, DATA_CHUNK_BYTES)
    this.#credit -= size
    this.#outlet.frame({ kind: piece.kind, channel: this.id, payload: piece.bytes.subarray(0, size) })
    if (size === piece.bytes.length) {
      this.#pieces.shift()
      piece.sent()
      this.#sendEnd()
    } else {
      this.#pieces[0] = { ...piece, bytes: piece.bytes.subarray(size) }
    }
    return this.#pieces.length > 0 && this.#credit > 0
  }

  #hear(message: unknown): void {
    this.guard(() => this.handlers.message?.(message))
  }

  #takeEnd(): void {
    if (this.#hasOtherEnded) throw new BrokenFrame(`channel ${this.id} ended twice`)
    this.#hasOtherEnded = true
    this.guard(() => this.handlers.ended?.())
  }

  #take(bytes: Uint8Array, kind: Piece['kind']): void {
    if (this.#hasOtherEnded) throw new BrokenFrame(`bytes on channel ${this.id} after its end`)
    if (bytes.length === 0) throw new BrokenFrame('bytes that are none')
    this.#granted -= bytes.length
    if (this.#granted < 0) throw new BrokenFrame(`more bytes on channel ${this.id} than there was credit for`)
    if (this.handlers.data) this.guard(() => this.handlers.data?.(bytes, kind))
    else this.consumed(bytes.length)
  }

  #earn(payload: Uint8Array): void {
    if (payload.length !== 4) throw new BrokenFrame('credit of no size')
    this.#credit += new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0)
    if (!Number.isSafeInteger(this.#credit)) throw new BrokenFrame('credit beyond measure')
    if (this.#pieces.length > 0) this.#outlet.hasBytes(this)
  }

  #sendEnd(): void {
    if (this.#isEnding && this.#pieces.length === 0) {
      this.#outlet.frame({ kind: 'end', channel: this.id, payload: NOTHING })
    }
  }

  #finish(): void {
    this.#isClosed = true
    this.#outlet.closed(this)
    for (const piece of this.#pieces.splice(0)) piece.sent()
  }
}

/** An error of the other side, in our words when it is not one of ours. */
function asError(value: unknown): ChannelError {
  const message = typeof value === 'object' && value !== null ? Reflect.get(value, 'message') : undefined
  const code = typeof value === 'object' && value !== null ? Reflect.get(value, 'code') : undefined
  return {
    code: channelErrorCodes.find((known) => known === code) ?? 'failed',
    message: typeof message === 'string' ? message : 'It failed for a reason that was not given',
  }
}
