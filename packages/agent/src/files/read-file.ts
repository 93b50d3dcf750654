import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Channel } from '@svc/protocol/agent/channels'
import { RequestError } from '../request-error.ts'
import { entryOf, nameOf } from './entries.ts'

const READ_BYTES = 256 * 1024

/**
 * Sends what a file is, and its content: as many bytes as it had then, or less when it was cut meanwhile. One without a
 * size is read to its end: what the system makes up as it is read, as in /proc, says that it is empty.
 */
export async function readFile(path: string, channel: Channel): Promise<void> {
  // Without waiting: opening a named pipe would last until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) throw new RequestError('is_directory', `${path} is a directory`)
    if (!stats.isFile()) throw new RequestError('bad_request', `${path} is not a file that can be read`)
    channel.message({ type: 'stat', entry: entryOf(nameOf(path), stats) })
    for await (const bytes of contentOf(file, stats.size || Number.POSITIVE_INFINITY)) {
      await channel.write(bytes)
      if (channel.isClosed) break
    }
    channel.end()
  } finally {
    await file.close()
  }
}

/** Reads the next piece while the last one is dealt with. Each is the reader's until it asks for the next. */
async function* contentOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  const buffers = [0, 1].map(() => Buffer.allocUnsafeSlow(Math.min(READ_BYTES, size)))
  let left = size
  const read = async (buffer: Buffer) => {
    const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length), null)
    left -= bytesRead
    return buffer.subarray(0, bytesRead)
  }
  const [one, other] = buffers
  if (!one || !other) return
  let next = read(one)
  try {
    for (let turn = other; ; turn = turn === one ? other : one) {
      const bytes = await next
      if (bytes.length === 0) return
      next = left > 0 ? read(turn) : Promise.resolve(Buffer.alloc(0))
      yield bytes
    }
  } finally {
    await next.catch(() => {}) // before anybody closes the file
  }
}
