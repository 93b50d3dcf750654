const ESCAPE = 0x1b

/** Length of the output without a sequence, or a character, of which only the beginning is there. */
export function wholeBytes(bytes: Uint8Array, { isAtRest }: { isAtRest: boolean }): number {
  if (isAtRest) return bytes.length - cutCharacterBytes(bytes)
  const begin = bytes.lastIndexOf(ESCAPE)
  return begin === -1 ? bytes.length : begin
}

/** How many bytes at the end are the beginning of a character that has more. */
function cutCharacterBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    const isContinuation = (byte & 0xc0) === 0x80
    if (!isContinuation) return characterBytes(byte) > back ? back : 0
  }
  return 0
}

/** Length in UTF-8 of the character that begins so. */
function characterBytes(lead: number): number {
  if (lead >= 0xf0) return 4
  if (lead >= 0xe0) return 3
  return lead >= 0xc0 ? 2 : 1
}
