import { constants, type Stats } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf, RequestError } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'

const NEW_FILE_MODE = 0o644

/**
 * Puts content in the place of a file, at once and for good: whoever looks sees the old content or the new, also after
 * a crash. Answers its size. Leaves nothing behind when the content does not come to its end.
 */
export async function writeFile(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const target = await behindLinks(path)
  const before = await findFile(target)
  const folder = dirname(target)
  await mkdir(folder, { recursive: true })
  const draft = `${folder}/.svc-upload-${uniqueId()}`
  try {
    const size = await fill(draft, content, before ? before.mode & 0o7777 : NEW_FILE_MODE)
    await rename(draft, target)
    await syncDirectory(folder)
    return size
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function fill(draft: string, content: AsyncIterable<Uint8Array>, mode: number): Promise<number> {
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    let size = 0
    for await (const bytes of content) {
      await writeAll(file, bytes)
      size += bytes.length
    }
    await file.chmod(mode)
    await file.sync()
    return size
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest)
    rest = rest.subarray(bytesWritten)
  }
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

/** The new name lasts only when its directory is on disk too. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
