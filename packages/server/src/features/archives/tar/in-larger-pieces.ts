/** Joins small pieces until they make `size` bytes: each piece that reaches the packing costs a way to another thread. */
export async function* inLargerPieces(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  const joined = (): Uint8Array => {
    const piece = Buffer.concat(waiting, bytes)
    waiting = []
    bytes = 0
    return piece
  }
  for await (const part of source) {
    if (bytes + part.length > size && bytes > 0) yield joined()
    if (part.length >= size) {
      yield part
      continue
    }
    waiting.push(part)
    bytes += part.length
  }
  if (bytes > 0) yield joined()
}
