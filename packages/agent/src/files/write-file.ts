import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errnoOf, RequestError } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'
import { makeParents } from './make-parents.ts'

const NEW_FILE_MODE = 0o644

/**
 * Puts content in the place of a file, at once and for good: whoever looks sees the old content or the new, also after
 * a crash. Leaves nothing behind when the content does not come to its end, or `written`, which is called when all of it
 * is on disk, rejects.
 */
export async function writeFile(
  path: string,
  content: AsyncIterable<readonly Uint8Array[]>,
  written: (size: number) => Promise<void>,
): Promise<void> {
  const target = await behindLinks(path)
  const before = await findFile(target)
  const takeBackParents = await makeParents(target)
  // Open from the beginning: a directory that is moved meanwhile takes the draft along, and it must not stay there.
  const folder = await openDirectory(dirname(target)).catch(async (error: unknown) => {
    await takeBackParents()
    throw error
  })
  const draft = `${dirname(target)}/.svc-upload-${uniqueId()}`
  try {
    await written(await fill(draft, content, before ? before.mode & 0o7777 : NEW_FILE_MODE))
    await rename(draft, target)
    await folder.sync() // the new name lasts only when its directory is on disk too
  } catch (error) {
    await rm(`/proc/self/fd/${folder.fd}/${basename(draft)}`, { force: true })
    await takeBackParents()
    throw error
  } finally {
    await folder.close()
  }
}

async function fill(draft: string, content: AsyncIterable<readonly Uint8Array[]>, mode: number): Promise<number> {
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    let size = 0
    for await (const pieces of content) size += await writeAll(file, pieces)
    await file.chmod(mode)
    await file.sync()
    return size
  } finally {
    await file.close()
  }
}

/** Answers how much it was. */
async function writeAll(file: FileHandle, pieces: readonly Uint8Array[]): Promise<number> {
  let size = 0
  for (let rest = pieces; rest.length > 0; ) {
    const { bytesWritten } = await file.writev(rest)
    size += bytesWritten
    rest = behind(rest, bytesWritten)
  }
  return size
}

/** What is left of the pieces after so many bytes: the system may write less than it is given. */
function behind(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let skipped = bytes
  for (const piece of pieces) {
    if (skipped < piece.length) rest.push(piece.subarray(skipped))
    skipped = Math.max(0, skipped - piece.length)
  }
  return rest
}

/** A link to a file is kept, and the file it leads to replaced. */
async function behindLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path
    throw error
  }
}

async function findFile(path: string): Promise<Stats | undefined> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) throw new RequestError('is_directory', `${path} is a directory`)
    if (!stats.isFile()) throw new RequestError('bad_request', `${path} is not a file that can be replaced`)
    return stats
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const openDirectory = (path: string): Promise<FileHandle> => open(path, constants.O_RDONLY | constants.O_DIRECTORY)
