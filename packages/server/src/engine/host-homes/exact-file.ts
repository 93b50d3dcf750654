import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'

const CHUNK_BYTES = 64 * 1024

/** An open file that is read with the size it had: cut, or filled with zeros, when that changed. */
export class ExactFile {
  readonly #handle: FileHandle
  #stream: Readable | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  stream(size: number): Readable {
    let position = 0
    const next = async (): Promise<Buffer | null> => {
      if (position >= size) return null
      const wanted = Math.min(CHUNK_BYTES, size - position)
      const chunk = Buffer.alloc(wanted)
      const { bytesRead } = await this.#handle.read(chunk, 0, wanted, position)
      // Nothing more in it: the zeros of a new buffer stand for what is missing.
      const given = bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead)
      position += given.length
      return given
    }
    this.#stream = new Readable({
      highWaterMark: CHUNK_BYTES,
      read() {
        reading(next()).then(
          (chunk) => this.push(chunk),
          (error) => this.destroy(error),
        )
      },
    })
    const reading = <T>(read: Promise<T>): Promise<T> => {
      this.#reading = read.catch(() => undefined)
      return read
    }
    return this.#stream
  }

  /** Ends a stream that was not read to its end. */
  async close(): Promise<void> {
    if (this.#stream && !this.#stream.readableEnded) this.#stream.destroy()
    await this.#reading
    await this.#handle.close()
  }
}
