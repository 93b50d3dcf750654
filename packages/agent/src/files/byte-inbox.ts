import type { ChannelError } from '@svc/protocol/agent/channel-error'
import type { Channel } from '@svc/protocol/agent/channels'
import { RequestError } from '../request-error.ts'

/** The bytes that come on a channel, one after the other. The sender is held back until they are taken. */
export class ByteInbox implements AsyncIterable<Uint8Array> {
  readonly #channel: Channel
  readonly #pieces: Uint8Array[] = []
  #isComplete = false
  #failure: RequestError | undefined
  #wake: (() => void) | undefined

  /** Must be made as soon as the channel opens: what came before is lost. */
  constructor(channel: Channel) {
    this.#channel = channel
    channel.handlers = {
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
  }

  /** Ends when the sender said so; throws when the channel was closed before that. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure) throw this.#failure
      const piece = this.#pieces.shift()
      if (piece) {
        yield piece
        this.#channel.consumed(piece.length)
      } else if (this.#isComplete) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #fail(error: ChannelError | undefined): void {
    this.#failure = new RequestError('failed', error?.message ?? 'The content did not arrive whole')
    this.#wake?.()
  }
}
