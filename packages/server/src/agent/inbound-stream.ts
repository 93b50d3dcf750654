import { Readable } from 'node:stream'
import { ByteQueue } from './byte-queue.ts'

export interface InboundStreamOptions {
  /** So many bytes were handed to the reader, or dropped because there is none: the agent may send as many more. */
  consumed(bytes: number): void
  /** Somebody reads, for the first time. */
  begun?(): void
  /** The reader has gone, or the end was reached. */
  gone?(): void
}

/**
 * Bytes that the agent sends on a channel, as a stream. Holds no more than the channel's credit. An error of it needs
 * no listener: whoever asked hears of the failure in another way too.
 */
export class InboundStream extends Readable {
  readonly #options: InboundStreamOptions
  readonly #queue = new ByteQueue()
  #isWanted = false
  #isBegun = false
  #isFinished = false

  constructor(options: InboundStreamOptions) {
    // The queue holds the bytes and packs them; what the stream itself held would come on top, unpacked.
    super({ highWaterMark: 1 })
    this.#options = options
    this.on('error', () => {})
  }

  /** Somebody has read of it, or is about to. */
  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Bytes that wait for the reader. */
  get heldBytes(): number {
    return this.#queue.length
  }

  /** Bytes have arrived. */
  accept(bytes: Uint8Array): void {
    if (this.destroyed || this.#isFinished) {
      this.#options.consumed(bytes.length)
      return
    }
    this.#queue.push(bytes)
    this.#flow()
  }

  /** No more bytes will come; those held can still be read. */
  finish(): void {
    this.#isFinished = true
    this.#flow()
  }

  override _read(): void {
    this.#isWanted = true
    if (!this.#isBegun) {
      this.#isBegun = true
      this.#options.begun?.()
    }
    this.#flow()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.consumed(this.#queue.clear())
    this.#options.gone?.()
    done(error)
  }

  #flow(): void {
    while (this.#isWanted && !this.destroyed) {
      const bytes = this.#queue.shift()
      if (!bytes && !this.#isFinished) return
      // Before `push`: the reader may ask for more while it is told of these.
      this.#isWanted = false
      const wantsMore = this.push(bytes ?? null)
      if (!bytes) return
      this.#options.consumed(bytes.length)
      if (wantsMore) this.#isWanted = true
    }
  }
}
