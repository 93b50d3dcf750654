import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Channel } from '@svc/protocol/agent/channels'
import { RequestError } from '../request-error.ts'
import { entryOf, nameOf } from './entries.ts'

const READ_BYTES = 256 * 1024

/** Sends what a file is, and its content: as many bytes as it had then, or less when it was cut meanwhile. */
export async function readFile(path: string, channel: Channel): Promise<void> {
  // Without waiting: opening a named pipe would last until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) throw new RequestError('is_directory', `${path} is a directory`)
    if (!stats.isFile()) throw new RequestError('bad_request', `${path} is not a file that can be read`)
    channel.message({ type: 'stat', entry: entryOf(nameOf(path), stats) })
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(stats.size, 1)))
    for (let left = stats.size; left > 0 && !channel.isClosed; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(left, buffer.length), null)
      if (bytesRead === 0) break
      left -= bytesRead
      // Once it has gone out, the buffer is free for the next piece.
      await channel.write(buffer.subarray(0, bytesRead))
    }
    channel.end()
  } finally {
    await file.close()
  }
}
