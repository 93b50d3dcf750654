/** Below this nothing that JSON can be takes long to read. */
const HARMLESS_BYTES = 1024
/** No message of anybody's has more levels than four. */
const MAX_DEPTH = 16

const NEAR_BYTES = 32

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Whether a JSON text is quickly read. Large messages are one long text, or a few, which are; as many bytes of brackets
 * would keep the whole server busy for seconds. Says nothing about whether it is JSON at all. Structure is all that is
 * not text: brackets, commas, numbers.
 */
export function isQuicklyRead(bytes: Uint8Array, { maxStructureBytes }: { maxStructureBytes: number }): boolean {
  if (bytes.length <= HARMLESS_BYTES) return true
  let depth = 0
  let structureBytes = 0
  for (let at = 0; at < bytes.length; at++) {
    if (++structureBytes > maxStructureBytes) return false
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at + 1)
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
    if (depth > MAX_DEPTH) return false
  }
  return true
}

/** Where the quote is that ends a text; the end of all when none does. */
function endOfText(bytes: Uint8Array, start: number): number {
  let from = start
  for (;;) {
    const quote = nextQuote(bytes, from)
    if (quote === -1) return bytes.length
    let backslashes = 0
    while (quote - backslashes > start && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote
    from = quote + 1
  }
}

/** `indexOf` is fast over long ways, and its call takes longer than a short one. */
function nextQuote(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + NEAR_BYTES, bytes.length)
  for (let at = from; at < near; at++) if (bytes[at] === QUOTE) return at
  return bytes.indexOf(QUOTE, near)
}
