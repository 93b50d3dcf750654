/**
 * How many of these bytes can be shown as UTF-8 now: all but a character at the end of which only the beginning is there.
 * What is no UTF-8 at all is not waited for.
 */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return back < lengthFrom(byte) && isBeginning(bytes, back) ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Bytes of a character that begins so; 1 for a byte that begins none. */
function lengthFrom(first: number): number {
  if (first >= 0xc2 && first <= 0xdf) return 2
  if (first >= 0xe0 && first <= 0xef) return 3
  return first >= 0xf0 && first <= 0xf4 ? 4 : 1
}

/** Whether the last `back` bytes can still become a character: some second bytes can follow no first one. */
function isBeginning(bytes: Uint8Array, back: number): boolean {
  if (back < 2) return true
  const first = bytes[bytes.length - back] ?? 0
  const second = bytes[bytes.length - back + 1] ?? 0
  if (first === 0xe0) return second >= 0xa0
  if (first === 0xed) return second <= 0x9f
  if (first === 0xf0) return second >= 0x90
  return first !== 0xf4 || second <= 0x8f
}
