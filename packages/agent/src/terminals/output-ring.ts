/** Output kept for each terminal, so that a viewer who was away can catch up. */
export const RING_BYTES = 2 * 1024 * 1024
/** Blocks grow with the output: most terminals never print much. */
const SMALLEST_BLOCK_BYTES = 4 * 1024
const LARGEST_BLOCK_BYTES = 64 * 1024

interface Block {
  /** Position in the output of its first byte. */
  readonly from: number
  readonly bytes: Buffer
  filled: number
}

/** The latest output of one terminal, addressed by its position in all of the output. */
export class OutputRing {
  readonly #blocks: Block[] = []
  readonly #usedFrom: () => number
  /** Memory for the next block: in a flood the collector would have much to do. */
  #spare: Buffer | undefined
  #end = 0

  /** `usedFrom`: somebody may still look at bytes that `read` gave from here on. Nothing behind it is used again. */
  constructor(usedFrom: () => number = () => 0) {
    this.#usedFrom = usedFrom
  }

  /** Position of the oldest byte that is held. */
  get start(): number {
    return this.#blocks[0]?.from ?? 0
  }

  /** Position just after the latest byte. */
  get end(): number {
    return this.#end
  }

  holds(position: number): boolean {
    return position >= this.start && position <= this.#end
  }

  append(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0) {
      const block = this.#blockWithRoom()
      const size = Math.min(rest.length, block.bytes.length - block.filled)
      block.bytes.set(rest.subarray(0, size), block.filled)
      block.filled += size
      this.#end += size
      rest = rest.subarray(size)
    }
    this.#dropOldest()
  }

  /**
   * What comes after a position: never empty when there is more, not always all of it. The bytes stay as they are while
   * they are held, and those that are used also when the ring has moved on.
   */
  read(position: number, maxBytes: number): Buffer {
    if (!this.holds(position)) throw new RangeError(`output at ${position} is not held`)
    const block = this.#blocks.findLast(({ from }) => from <= position)
    if (!block) return Buffer.alloc(0)
    const at = position - block.from
    return block.bytes.subarray(at, Math.min(block.filled, at + maxBytes))
  }

  /** All that is between two positions. */
  copy(from: number, to: number): Buffer {
    const pieces: Buffer[] = []
    for (let at = from; at < to; ) {
      const piece = this.read(at, to - at)
      pieces.push(piece)
      at += piece.length
    }
    return Buffer.concat(pieces)
  }

  #blockWithRoom(): Block {
    const last = this.#blocks.at(-1)
    if (last && last.filled < last.bytes.length) return last
    const size = Math.min(LARGEST_BLOCK_BYTES, Math.max(SMALLEST_BLOCK_BYTES, this.#end - this.start))
    const block = { from: this.#end, bytes: this.#spare ?? Buffer.allocUnsafeSlow(size), filled: 0 }
    this.#spare = undefined
    this.#blocks.push(block)
    return block
  }

  #dropOldest(): void {
    for (;;) {
      const second = this.#blocks[1]
      if (!second || this.#end - second.from < RING_BYTES) return
      const oldest = this.#blocks.shift()
      const isFree = second.from <= this.#usedFrom()
      if (isFree && oldest?.bytes.length === LARGEST_BLOCK_BYTES) this.#spare = oldest.bytes
    }
  }
}
