/** Tar counts in blocks: every header is one, and content is filled up to a whole number of them. */
export const BLOCK_BYTES = 512

export const blocksFor = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES)

/** What fills up the last block of content that is `bytes` long. */
export const paddingOf = (bytes: number): number => blocksFor(bytes) * BLOCK_BYTES - bytes

/** Where the fields of a header are: [first byte, length]. */
export const FIELD = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  modifiedAt: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  linkTarget: [157, 100],
  magic: [257, 8],
  userName: [265, 32],
  groupName: [297, 32],
  prefix: [345, 155],
} as const satisfies Record<string, readonly [number, number]>

/** `ustar`, NUL, version 00: POSIX, whose names may have a prefix. GNU writes spaces there, and has none. */
export const POSIX_MAGIC = 'ustar\x0000'

/** The sum of a header's bytes, its own field read as spaces. */
export function checksumOf(header: Uint8Array): number {
  const [start, length] = FIELD.checksum
  let sum = length * 0x20
  for (let at = 0; at < BLOCK_BYTES; at++) {
    if (at < start || at >= start + length) sum += header[at] ?? 0
  }
  return sum
}
