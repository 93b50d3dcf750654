/** Hands out a stream's bytes in the amounts asked for, and holds no more of it than one chunk. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** What is at hand, at most `length` bytes; undefined at the end. */
  async some(length: number): Promise<Buffer | undefined> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next()
      if (next.done) return undefined
      this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength)
    }
    const part = this.#chunk.subarray(0, length)
    this.#chunk = this.#chunk.subarray(part.length)
    return part
  }

  /** Exactly `length` bytes, or fewer at the end. Joins them, so only for what is small. */
  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let missing = length
    while (missing > 0) {
      const part = await this.some(missing)
      if (!part) break
      if (part.length === length) return part
      parts.push(part)
      missing -= part.length
    }
    return Buffer.concat(parts)
  }

  /** Answers how many of the bytes were there. */
  async skip(length: number): Promise<number> {
    let missing = length
    while (missing > 0) {
      const part = await this.some(missing)
      if (!part) break
      missing -= part.length
    }
    return length - missing
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }
}
