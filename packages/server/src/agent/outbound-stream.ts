import { Writable } from 'node:stream'
import type { Call } from './call.ts'

/** Bytes for the agent on a channel, as a stream: a write is done when the agent had room for it. */
export class OutboundStream extends Writable {
  readonly #call: () => Call
  readonly #taking: ((bytesWritten: number) => void) | undefined
  #bytesWritten = 0

  /**
   * `call` may be answered later than the stream is made, but before it is written to. `taking` is told of each piece
   * before it is sent, and breaks the stream by what it throws.
   */
  constructor(call: () => Call, taking?: (bytesWritten: number) => void) {
    super()
    this.#call = call
    this.#taking = taking
    this.on('error', () => {})
  }

  get bytesWritten(): number {
    return this.#bytesWritten
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#bytesWritten += bytes.length
    try {
      this.#taking?.(this.#bytesWritten)
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
      return
    }
    void this.#call()
      .write(bytes)
      .then(() => done())
  }

  override _final(done: () => void): void {
    this.#call().end()
    done()
  }
}
