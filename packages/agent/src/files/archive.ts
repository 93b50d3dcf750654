import { realpath, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Channel } from '@svc/protocol/agent/channels'
import { RequestError } from '../request-error.ts'
import { tarDirectory } from './tar-directory.ts'

/** Little of the size is lost against the usual level, and more than half of the time is won. */
const COMPRESSION_LEVEL = 3

/** Sends a directory as `tar.gz`. Made by us alone: an image need not have the programs. */
export async function archive(path: string, channel: Channel): Promise<void> {
  const folder = await realpath(path)
  if (!(await stat(folder)).isDirectory()) throw new RequestError('not_directory', `${path} is not a directory`)
  // Few workspaces ever need it, and each start would pay for it.
  const { createGzip } = await import('node:zlib')
  const leaving = new AbortController()
  channel.handlers = { closed: () => leaving.abort() }
  await pipeline(
    Readable.from(tarDirectory(folder), { objectMode: false, highWaterMark: 256 * 1024 }),
    createGzip({ level: COMPRESSION_LEVEL }),
    async (compressed: AsyncIterable<Buffer>) => {
      for await (const bytes of compressed) await channel.write(bytes)
    },
    { signal: leaving.signal },
  )
  channel.end()
}
