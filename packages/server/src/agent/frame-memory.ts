/** A frame of bytes as large as they get. Smaller ones cost the collector little. */
const ROOM_BYTES = 64 * 1024 + 64
const SMALL_BYTES = 4 * 1024
/** More than are ever under way at once while the other side keeps up. */
const MAX_SPARE = 8

/** Memory for frames, used again when they have gone out: else an upload would pass through the collector once more. */
export class FrameMemory {
  readonly #spare: ArrayBuffer[] = []

  lend(size: number): Uint8Array {
    if (size < SMALL_BYTES || size > ROOM_BYTES) return new Uint8Array(size)
    return new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(ROOM_BYTES), 0, size)
  }

  /** Nobody looks at these bytes any more. Those that were not lent are left alone. */
  giveBack({ buffer }: Uint8Array): void {
    const isOurs = buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES
    if (isOurs && this.#spare.length < MAX_SPARE) this.#spare.push(buffer)
  }
}
