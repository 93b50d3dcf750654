/** The largest pieces that streams are cut into, with what goes before them in a message. */
const ROOM_BYTES = 64 * 1024 + 64
/** Smaller ones cost little. */
const SMALL_BYTES = 4 * 1024

/** Memory for messages that is used again: a stream of new ones would keep the collector busy. */
export class SpareMemory {
  readonly #most: number
  readonly #spare: ArrayBuffer[] = []

  /** Keeps no more than `most` pieces while they are not used. */
  constructor(most: number) {
    this.#most = most
  }

  /** Not empty: whoever gets it fills all of it. */
  lend(size: number): Uint8Array<ArrayBuffer> {
    if (size < SMALL_BYTES || size > ROOM_BYTES) return new Uint8Array(size)
    return new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(ROOM_BYTES), 0, size)
  }

  /** Nobody looks at these bytes any more. Only what was lent is kept, and once. */
  giveBack({ buffer }: Uint8Array<ArrayBufferLike>): void {
    const isOurs = buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES
    if (isOurs && this.#spare.length < this.#most && !this.#spare.includes(buffer)) this.#spare.push(buffer)
  }
}
