import { ownBytes } from './own-bytes.ts'

/** Smaller pieces are gathered in blocks of this size, so that a million single bytes cost about their number. */
const BLOCK_BYTES = 16 * 1024

/** Bytes that wait for their reader. Takes about as much memory as it holds bytes, however they were cut. */
export class ByteQueue {
  readonly #pieces: Uint8Array[] = []
  /** The memory behind the last piece, when there is room for more in it. */
  #block: Uint8Array | undefined
  #length = 0

  get length(): number {
    return this.#length
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#length += bytes.length
    if (bytes.length >= BLOCK_BYTES) {
      this.#block = undefined
      this.#pieces.push(ownBytes(bytes))
    } else {
      this.#gather(bytes)
    }
  }

  /** The next piece, as large as it has become. */
  shift(): Uint8Array | undefined {
    const piece = this.#pieces.shift()
    // What was handed out is the reader's; nothing may be written behind it.
    if (this.#pieces.length === 0) this.#block = undefined
    this.#length -= piece?.length ?? 0
    return piece
  }

  /** Drops everything and says how much it was. */
  clear(): number {
    const length = this.#length
    this.#pieces.length = 0
    this.#block = undefined
    this.#length = 0
    return length
  }

  #gather(bytes: Uint8Array): void {
    const last = this.#pieces.at(-1)
    if (this.#block && last && last.length + bytes.length <= BLOCK_BYTES) {
      this.#block.set(bytes, last.length)
      this.#pieces[this.#pieces.length - 1] = this.#block.subarray(0, last.length + bytes.length)
      return
    }
    if (last === undefined) {
      // Mostly it is read at once, so a block would be waste: the second piece that has to wait starts one.
      this.#pieces.push(ownBytes(bytes))
      return
    }
    this.#block = new Uint8Array(BLOCK_BYTES)
    this.#block.set(bytes)
    this.#pieces.push(this.#block.subarray(0, bytes.length))
  }
}
