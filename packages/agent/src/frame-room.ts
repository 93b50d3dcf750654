/** Frames as large as they get; smaller ones cost little. */
const ROOM_BYTES = 64 * 1024 + 64
const SMALL_BYTES = 4 * 1024

/** Memory for frames, used again and again: in a flood the collector would have much to do. */
export class FrameRoom {
  #spare: ArrayBuffer | undefined

  lend(size: number): Uint8Array {
    if (size < SMALL_BYTES || size > ROOM_BYTES) return new Uint8Array(size)
    const memory = this.#spare ?? new ArrayBuffer(ROOM_BYTES)
    this.#spare = undefined
    return new Uint8Array(memory, 0, size)
  }

  /** Nobody looks at these bytes any more. */
  giveBack({ buffer }: Uint8Array): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === ROOM_BYTES) this.#spare = buffer
  }
}
