import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../kernel/error-code.ts'
import { O_PATH } from '../open-flags.ts'
import { entriesOf } from './entries-of.ts'

/**
 * Removes a directory with everything in it. It vanishes from `path` at once; then each directory in it is moved up
 * into `trash` before it is emptied. So no path ever grows: neither the depth of the tree nor the length of its names
 * matters, and no link is ever followed. What an interrupted removal leaves in `trash` is for `sweepTrash`.
 */
export async function removeTree(path: string, trash: string): Promise<void> {
  await mkdir(trash, { recursive: true, mode: 0o700 })
  const moved = join(trash, randomUUID())
  if (!(await moveDirectory(path, moved))) return
  await emptyTrash(trash, moved)
}

/** Removes what is in `trash` after an interruption. */
export async function sweepTrash(trash: string): Promise<void> {
  const left = await readdir(trash).catch(unlessMissing)
  for (const name of left ?? []) await emptyTrash(trash, join(trash, name))
}

async function emptyTrash(trash: string, first: string): Promise<void> {
  const waiting = [first]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    // Another removal, or a sweep, may be at work on the same.
    if (!(await makeOpen(directory))) continue
    for await (const { name, type } of entriesOf(directory)) {
      const child = Buffer.concat([Buffer.from(`${directory}/`), name])
      if (!type.isDirectory() && (await removeFile(child))) continue
      const place = join(trash, randomUUID())
      if (await moveDirectory(child, place)) waiting.push(place)
    }
    await rmdir(directory).catch(unlessMissing)
  }
}

/** Answers false for a directory: some file systems do not tell the type with the name. */
async function removeFile(path: Buffer): Promise<boolean> {
  try {
    await unlink(path)
  } catch (error) {
    if (errorCode(error) === 'EISDIR') return false
    unlessMissing(error)
  }
  return true
}

/** Answers false when there is none. */
async function moveDirectory(from: string | Buffer, to: string): Promise<boolean> {
  try {
    await rename(from, to)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    if (errorCode(error) !== 'EACCES') throw error
    // A directory changes its `..` when it moves, so its owner needs to be allowed to write it.
    await makeOpen(from)
    await rename(from, to)
  }
  return true
}

/** Answers false when it is gone. */
async function makeOpen(directory: string | Buffer): Promise<boolean> {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const handle = await open(directory, flags).catch(unlessMissing)
  if (!handle) return false
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, 0o700)
    return true
  } finally {
    await handle.close()
  }
}

function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error
}
