/** What OpenSSH takes as one message, its length left out. */
export const MAX_MESSAGE_BYTES = 256 * 1024
const HEAD_BYTES = 4

/** The stream is not one of agent messages, or no longer. */
export class BrokenAgentStream extends Error {
  override readonly name = 'BrokenAgentStream'
  readonly isTooLong: boolean

  constructor(length: number) {
    super(`an agent message of ${length} bytes`)
    this.isTooLong = length > MAX_MESSAGE_BYTES
  }
}

/** Cuts a stream of the ssh agent protocol (a length of four bytes, then so many bytes) into whole messages. */
export class AgentMessages {
  #message = Buffer.alloc(HEAD_BYTES)
  #filled = 0

  /** The messages that are complete now, each with its length. Throws for one that no agent would take. */
  push(bytes: Uint8Array): Uint8Array[] {
    const whole: Uint8Array[] = []
    for (let at = 0; at < bytes.length; ) {
      const taken = Math.min(this.#message.length - this.#filled, bytes.length - at)
      this.#message.set(bytes.subarray(at, at + taken), this.#filled)
      this.#filled += taken
      at += taken
      if (this.#filled < this.#message.length) break
      if (this.#filled === HEAD_BYTES) this.#makeRoom()
      else whole.push(this.#takeMessage())
    }
    return whole
  }

  #makeRoom(): void {
    const length = this.#message.readUInt32BE()
    if (length < 1 || length > MAX_MESSAGE_BYTES) throw new BrokenAgentStream(length)
    this.#message = Buffer.concat([this.#message], HEAD_BYTES + length)
  }

  #takeMessage(): Uint8Array {
    const message = this.#message
    this.#message = Buffer.alloc(HEAD_BYTES)
    this.#filled = 0
    return message
  }
}
