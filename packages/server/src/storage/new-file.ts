import { randomUUID } from 'node:crypto'
import { access, link, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../kernel/error-code.ts'
import { BackupFailed } from './storage.ts'

/**
 * Makes a private file that is either complete or not there: `write` fills a temporary one beside it, which gets the
 * name only after it has reached the disk.
 */
export async function writeNewFile(path: string, write: (temporaryPath: string) => Promise<void>): Promise<void> {
  if (await exists(path)) throw alreadyExists(path) // before the work, which may take long
  const temporaryPath = `${path}.${randomUUID()}.partial`
  try {
    await (await open(temporaryPath, 'wx', 0o600)).close()
    await write(temporaryPath)
    await flush(temporaryPath)
    await link(temporaryPath, path) // unlike a rename, it fails if another file has taken the name meanwhile
    await rm(temporaryPath)
    await flush(dirname(path)) // the new name is an entry of the folder
  } catch (cause) {
    await rm(temporaryPath, { force: true })
    if (cause instanceof BackupFailed) throw cause
    if (errorCode(cause) === 'EEXIST') throw alreadyExists(path)
    throw new BackupFailed(`could not write the backup to ${path}: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}

const alreadyExists = (path: string) => new BackupFailed(`${path} already exists, and a backup never overwrites a file`)

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false, // any other trouble with this path is told when the file is written
  )
}

async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
