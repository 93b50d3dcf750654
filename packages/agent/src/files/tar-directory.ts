import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir, readlink } from 'node:fs/promises'
import { tarEnd, tarHeader, tarPadding } from '@svc/protocol/tar/tar-header'
import { errnoOf } from '../request-error.ts'

const READ_BYTES = 128 * 1024
/** What vanished while we looked, or is not the user's to read, is left out. */
const LEFT_OUT = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENXIO']
/** Here files exist that fail for any reason there is, and no disk is broken. */
const MADE_UP = /^\/(?:proc|sys)(?:\/|$)/

/** A directory as a tar: files, directories and links as they are, names relative to it. */
export async function* tarDirectory(path: string): AsyncGenerator<Uint8Array> {
  yield* tarContent(Buffer.from(path), Buffer.alloc(0))
  yield tarEnd()
}

async function* tarContent(folder: Buffer, prefix: Buffer): AsyncGenerator<Uint8Array> {
  const names = await readdir(folder, { encoding: 'buffer' })
  for (const name of names.sort(Buffer.compare)) {
    try {
      yield* tarEntry(Buffer.concat([folder, SLASH, name]), Buffer.concat([prefix, name]))
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === undefined || !(LEFT_OUT.includes(errno) || MADE_UP.test(folder.toString()))) throw error
    }
  }
}

async function* tarEntry(path: Buffer, name: Buffer): AsyncGenerator<Uint8Array> {
  const stats = await lstat(path)
  const about = { mode: stats.mode, modifiedAt: stats.mtimeMs / 1000, size: 0 }
  if (stats.isDirectory()) {
    yield tarHeader({ ...about, kind: 'directory', name })
    yield* tarContent(path, Buffer.concat([name, SLASH]))
  } else if (stats.isSymbolicLink()) {
    yield tarHeader({ ...about, kind: 'link', name, target: await readlink(path, { encoding: 'buffer' }) })
  } else if (stats.isFile()) {
    yield* tarFile(path, name)
  }
}

/** Exactly as many bytes as the header says: cut, or filled with zeros, when the file changes meanwhile. */
async function* tarFile(path: Buffer, name: Buffer): AsyncGenerator<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return // something else was put in its place
    const { mode, mtimeMs, size } = stats
    // Before the header: whoever cannot be read is left out as a whole, and after its header that would be too late.
    let piece = await nextPiece(file, size)
    yield tarHeader({ kind: 'file', name, mode, size, modifiedAt: mtimeMs / 1000 })
    for (let left = size; left > 0; ) {
      left -= piece.length
      yield piece
      piece = await nextPiece(file, left).catch((cause: unknown) => {
        throw new Error('a file could be read only in part', { cause })
      })
    }
    yield tarPadding(size)
  } finally {
    await file.close()
  }
}

/** Empty only when nothing is left. */
async function nextPiece(file: FileHandle, left: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(Math.min(left, READ_BYTES))
  if (left === 0) return buffer
  const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
  return bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead)
}

const SLASH = Buffer.from('/')
