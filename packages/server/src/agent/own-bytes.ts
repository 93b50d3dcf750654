/** A piece smaller than this part of the memory it lies in is copied. */
const SMALLEST_SHARE = 1 / 4

/**
 * The same bytes, in memory that holds little else. What arrives lies in the buffer of a whole read: whoever kept a
 * single byte of it would keep all.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.length < bytes.buffer.byteLength * SMALLEST_SHARE ? new Uint8Array(bytes) : bytes
}
