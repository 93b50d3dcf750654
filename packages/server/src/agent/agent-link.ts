import type { Duplex } from 'node:stream'
import { Channels } from '@svc/protocol/agent/channels'
import { BrokenFrame, type Frame } from '@svc/protocol/agent/frames'
import type { AgentRequest } from '@svc/protocol/agent/requests'
import { SpareMemory } from '@svc/protocol/spare-memory'
import { isQuicklyRead } from '../kernel/json-bounds.ts'
import { AgentLost } from './agent-error.ts'
import { Call, type CallHandlers } from './call.ts'

/**
 * Bytes that may wait for an agent that takes none. Contents stop long before; only requests and other small things
 * still pile up, and no agent that is well leaves so many lying.
 */
const MAX_UNSENT_BYTES = 8 * 1024 * 1024

/** Far more than a piece of a listing has, with all its brackets and numbers. */
const MAX_STRUCTURE_BYTES = 128 * 1024

/** More than are ever under way at once while the agent keeps up. */
const SPARE_FRAMES = 8

/** Milliseconds an agent may keep the server busy at a time. */
const TURN_MS = 3
/** Frames between two looks at the clock. */
const LOOK_EVERY = 16

/**
 * The calls to one agent over one stream. The stream is always read, whatever the readers of single calls do: each of
 * those is held up by its own credit only.
 */
export class AgentLink {
  readonly #stream: Duplex
  readonly #announced: (message: unknown) => void
  readonly #channels: Channels
  readonly #memory = new SpareMemory(SPARE_FRAMES)
  readonly #lost = Promise.withResolvers<void>()
  #lostBecause: AgentLost | undefined
  #isCorked = false

  constructor(parts: { stream: Duplex; announced: (message: unknown) => void }) {
    this.#stream = parts.stream
    this.#announced = parts.announced
    this.#channels = new Channels({
      side: 'server',
      send: (bytes) => this.#send(bytes),
      room: (size) => this.#memory.lend(size),
    })
    this.#stream.on('data', this.#onData).on('drain', this.#onDrain)
    this.#stream.on('end', this.#onGone).on('close', this.#onGone).on('error', this.#onGone)
    if (this.#stream.destroyed || this.#stream.readableEnded) this.#onGone()
  }

  /** Resolves when the connection is gone, for whatever reason. */
  get lost(): Promise<void> {
    return this.#lost.promise
  }

  get lostBecause(): AgentLost | undefined {
    return this.#lostBecause
  }

  /** Calls that are open, for tests. */
  get size(): number {
    return this.#channels.size
  }

  call(request: AgentRequest, handlers: CallHandlers): Call {
    return new Call({
      open: (channelHandlers) => this.#channels.open(request, channelHandlers),
      handlers,
      lost: () => this.#lostBecause,
    })
  }

  /** Ends the connection, and every call on it with `because`. */
  close(because: AgentLost): void {
    if (this.#lostBecause) return
    this.#lostBecause = because
    const stream = this.#stream
    stream.off('data', this.#onData).off('drain', this.#onDrain)
    stream.off('end', this.#onGone).off('close', this.#onGone).off('error', this.#onGone)
    // Destroying it can still report an error, which is of no interest any more.
    stream.on('error', () => {})
    stream.destroy()
    this.#lost.resolve()
    this.#channels.lose({ code: 'failed', message: because.message })
  }

  /**
   * What is sent in one go of the event loop leaves in one piece. Its memory is used again once the stream says that it
   * was written: a stream that keeps it for longer would have to copy it.
   */
  #send(bytes: Uint8Array): boolean {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#stream.cork()
      process.nextTick(this.#uncork)
    }
    return this.#stream.write(bytes, () => this.#memory.giveBack(bytes))
  }

  readonly #uncork = (): void => {
    this.#isCorked = false
    this.#stream.uncork()
    if (this.#stream.writableLength > MAX_UNSENT_BYTES) this.close(new AgentLost('the agent takes no more requests'))
  }

  readonly #onData = (chunk: Uint8Array): void => {
    try {
      this.#deal(this.#channels.cut(chunk))
    } catch (error) {
      this.close(whyUnreadable(error))
    }
  }

  /**
   * A piece of a turn's length, then everybody else first: an agent that floods us, with however small things, holds up
   * itself alone. Nothing more is read meanwhile.
   */
  #deal(frames: readonly Frame[]): void {
    const turnEndsMs = performance.now() + TURN_MS
    for (const [n, frame] of frames.entries()) {
      if (this.#lostBecause) return
      requireQuicklyRead(frame)
      this.#channels.take(frame, this.#announced)
      if (n % LOOK_EVERY !== LOOK_EVERY - 1 || performance.now() < turnEndsMs) continue
      this.#dealLater(frames.slice(n + 1))
      return
    }
    this.#dealLater([])
  }

  #dealLater(frames: readonly Frame[]): void {
    this.#stream.pause()
    setImmediate(() => {
      if (this.#lostBecause) return
      if (frames.length === 0) {
        this.#stream.resume()
        return
      }
      try {
        this.#deal(frames)
      } catch (error) {
        this.close(whyUnreadable(error))
      }
    })
  }

  readonly #onDrain = (): void => this.#channels.drained()
  readonly #onGone = (): void => this.close(new AgentLost('the connection to the agent is gone'))
}

/** What an agent says can be made so that reading it keeps the whole server busy. */
function requireQuicklyRead({ kind, payload }: Frame): void {
  if (kind !== 'message' && kind !== 'close') return
  if (!isQuicklyRead(payload, { maxStructureBytes: MAX_STRUCTURE_BYTES })) {
    throw new BrokenFrame('a message with more parts, or more levels, than any of ours')
  }
}

function whyUnreadable(error: unknown): AgentLost {
  // Not as its cause: such an error may quote what the agent sent.
  if (error instanceof BrokenFrame) return new AgentLost(`the agent does not keep to the protocol: ${error.message}`)
  return new AgentLost('the server could not deal with what the agent sent', { cause: error })
}
