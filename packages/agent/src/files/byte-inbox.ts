import type { ChannelError } from '@svc/protocol/agent/channel-error'
import type { Channel } from '@svc/protocol/agent/channels'
import { RequestError } from '../request-error.ts'

/** What a sender may have under way beyond what every channel may: so it need not wait with each piece. */
const MORE_CREDIT = 768 * 1024

/** The bytes that come on a channel, in as many pieces as have gathered. The sender is held back until they are taken. */
export class ByteInbox implements AsyncIterable<readonly Uint8Array[]> {
  readonly #channel: Channel
  #pieces: Uint8Array[] = []
  #isComplete = false
  #failure: RequestError | undefined
  readonly #keep = Promise.withResolvers<void>()
  #wake: (() => void) | undefined

  /** Must be made as soon as the channel opens: what came before is lost. */
  constructor(channel: Channel) {
    this.#channel = channel
    this.#keep.promise.catch(() => {})
    channel.handlers = {
      message: (message) => {
        if (Reflect.get(Object(message), 'type') === 'keep') this.#keep.resolve()
      },
      data: (bytes) => {
        this.#pieces.push(bytes)
        this.#wake?.()
      },
      ended: () => {
        this.#isComplete = true
        this.#wake?.()
      },
      closed: (error) => this.#fail(error),
    }
    channel.consumed(MORE_CREDIT)
  }

  /** Resolves when the sender wants what it sent to be kept; rejects when the channel was closed before that. */
  get keep(): Promise<void> {
    return this.#keep.promise
  }

  /** Ends when the sender said so; throws when the channel was closed before that. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Uint8Array[]> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const pieces = this.#pieces
      if (pieces.length > 0) {
        this.#pieces = []
        yield pieces
        this.#channel.consumed(lengthOf(pieces))
      } else if (this.#isComplete) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #fail(error: ChannelError | undefined): void {
    this.#failure = new RequestError('failed', error?.message ?? 'The content did not arrive whole')
    this.#keep.reject(this.#failure)
    this.#wake?.()
  }
}

const lengthOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((length, piece) => length + piece.length, 0)
