import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const brotli = promisify(brotliCompress) // its default quality is already the best one
const deflate = promisify(gzip)

/** Below this the headers outweigh the gain. */
const SMALLEST_BYTES = 1024

/** Text with a hashed name. Not the page itself: the server writes a nonce into it on every response. */
const COMPRESSIBLE = /\.(js|css|svg|json)$/

/** Writes `.br` and `.gz` beside every text asset, so that the server never compresses while somebody waits. */
export function precompress(): Plugin {
  return {
    name: 'svc:precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => COMPRESSIBLE.test(name))
      await Promise.all(names.map((name) => compressFile(join(dir, name))))
    },
  }
}

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path)
  if (bytes.length <= SMALLEST_BYTES) return
  await Promise.all([
    writeFile(`${path}.br`, await brotli(bytes)),
    writeFile(`${path}.gz`, await deflate(bytes, { level: 9 })),
  ])
}
