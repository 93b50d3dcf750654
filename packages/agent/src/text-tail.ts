/** The end of a text, however long it gets. */
export class TextTail {
  readonly #maxBytes: number
  #bytes = Buffer.alloc(0)

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.text === ''
  }

  append(chunk: Uint8Array): void {
    // Some more than is told, so that a character which the cut goes through can be left out whole.
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-this.#maxBytes)]).subarray(-this.#maxBytes)
  }

  /** Trimmed, and begun with a whole character. */
  get text(): string {
    let start = 0
    while (start < 3 && isContinuation(this.#bytes[start])) start++
    return clip(this.#bytes.subarray(start).toString().trim(), this.#maxBytes)
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** Bytes that are no characters take more room once they are replaced. */
function clip(text: string, maxBytes: number): string {
  const characters = [...text]
  let size = Buffer.byteLength(text)
  let from = 0
  while (size > maxBytes) size -= Buffer.byteLength(characters[from++] ?? '')
  return characters.slice(from).join('')
}
