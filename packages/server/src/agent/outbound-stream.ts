import { Writable } from 'node:stream'
import type { Call } from './call.ts'

/** Bytes for the agent on a channel, as a stream: a write is done when the agent had room for it. */
export class OutboundStream extends Writable {
  readonly #call: () => Call

  /** `call` may be answered later than the stream is made, but before it is written to. */
  constructor(call: () => Call) {
    super()
    this.#call = call
    this.on('error', () => {})
  }

  override _write(bytes: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    void this.#call().write(bytes).then(done)
  }

  override _final(done: () => void): void {
    this.#call().end()
    done()
  }
}
