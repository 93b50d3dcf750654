import type { Stats } from 'node:fs'
import { cp, link, lstat, mkdir, open, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf, RequestError } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'
import { makeParents } from './make-parents.ts'

/** A file system that has no second names for files, or a file that is not the user's. */
const NO_SECOND_NAME = ['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'EMLINK', 'ENOSYS']

/**
 * Moves a file, link or directory, and never replaces anything. Node cannot ask the system for just that (`renameat2`),
 * so the new name is taken first, by a step that fails when it exists, whoever else is at work.
 */
export async function renameFile(from: string, to: string): Promise<void> {
  if (to === from) throw new RequestError('exists', `There is something at ${to} already`)
  if (to.startsWith(`${from}/`)) throw new RequestError('bad_request', 'A directory cannot be moved into itself')
  const stats = await lstat(from)
  const takeBackParents = await makeParents(to)
  try {
    await renameOnDisk(from, to, stats).catch((error: unknown) => {
      if (errnoOf(error) !== 'EXDEV') throw error
      return moveToOtherDisk(from, to, stats)
    })
  } catch (error) {
    await takeBackParents()
    throw error
  }
}

function renameOnDisk(from: string, to: string, stats: Stats): Promise<void> {
  return stats.isDirectory() ? renameDirectory(from, to) : renameByLink(from, to)
}

/** What is there at the end has the new name at once, and whole; until then the old one stays as it is. */
async function moveToOtherDisk(from: string, to: string, stats: Stats): Promise<void> {
  const draft = `${dirname(to)}/.svc-move-${uniqueId()}`
  try {
    await cp(from, draft, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    await renameOnDisk(draft, to, stats)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  await rm(from, { recursive: true })
}

/** The new name is an empty directory of ours. Only an empty directory can be replaced by one, so nothing can be lost. */
async function renameDirectory(from: string, to: string): Promise<void> {
  await mkdir(to)
  try {
    await rename(from, to)
  } catch (error) {
    // One that somebody has put something into meanwhile stays.
    await rmdir(to).catch(() => {})
    throw error
  }
}

/** The file has both names for a moment. */
async function renameByLink(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (!NO_SECOND_NAME.includes(errnoOf(error) ?? '')) throw error
    return renameOverOwn(from, to)
  }
  await unlink(from).catch(async (error: unknown) => {
    await unlink(to)
    throw error
  })
}

/** Takes the name with an empty file. What somebody wrote into that in the moment before it is replaced would be lost. */
async function renameOverOwn(from: string, to: string): Promise<void> {
  const own = await open(to, 'wx')
  await own.close()
  try {
    await rename(from, to)
  } catch (error) {
    await rm(to, { force: true })
    throw error
  }
}
