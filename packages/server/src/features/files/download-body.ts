import type { Readable } from 'node:stream'

/** Files up to this size are read before they are answered: then their length is certain. */
const READ_AHEAD_BYTES = 64 * 1024

export interface DownloadBody {
  readonly content: Buffer | Readable
  /** Undefined when nobody can tell. */
  readonly length: number | undefined
}

/**
 * Whether so many bytes are all of a file said to have `size`. One that is cut while it is read breaks off, so that
 * nobody takes what came for all of it. What the system makes up as it is read, in /proc and /sys, has no size, or a
 * wrong one; but never a large one.
 */
export const isWholeFile = (size: number, bytes: number): boolean => size <= READ_AHEAD_BYTES || bytes === size

/** The bytes of a file said to have `size`, with their true length where that can be known. */
export async function fileBody(content: Readable, size: number): Promise<DownloadBody> {
  if (size > READ_AHEAD_BYTES) return { content, length: size }
  const { head, isEnd } = await readAhead(content, READ_AHEAD_BYTES)
  if (isEnd) return { content: head, length: head.length }
  content.unshift(head)
  return { content, length: undefined }
}

/** Bytes of which nobody knows how many will come. The first are there, so it is certain that some do. */
export async function endlessBody(content: Readable): Promise<DownloadBody> {
  const { head } = await readAhead(content, 0)
  content.unshift(head)
  return { content, length: undefined }
}

/** Reads until there is more than `bytes`, or the end. */
async function readAhead(content: Readable, bytes: number): Promise<{ head: Buffer; isEnd: boolean }> {
  const pieces: Uint8Array[] = []
  // Not a loop over the stream itself: leaving that would end it.
  const iterator: AsyncIterator<Uint8Array> = content.iterator({ destroyOnReturn: false })
  for (let length = 0; length <= bytes; ) {
    const { done, value } = await iterator.next()
    if (done) return { head: Buffer.concat(pieces), isEnd: true }
    pieces.push(value)
    length += value.length
  }
  await iterator.return?.()
  return { head: Buffer.concat(pieces), isEnd: false }
}
