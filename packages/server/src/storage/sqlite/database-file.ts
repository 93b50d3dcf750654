import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageUnavailable } from '../storage.ts'
import { errcodeOf } from './sqlite-error.ts'

export const databasePath = (dataDir: string) => join(dataDir, 'svc.db')

/** SQLite would create the file readable for everybody; its `-wal` and `-shm` take over the mode of this one. */
export async function createPrivateFile(path: string): Promise<void> {
  await (await open(path, 'a', 0o600)).close()
}

const FILE_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a directory',
  EACCES: 'is not writable for this user',
  EPERM: 'is not writable for this user',
  EROFS: 'is on a read-only file system',
}

/** By primary result code (the low byte of the extended one). */
const SQLITE_TROUBLE: Readonly<Record<number, string>> = {
  5: 'is locked by another program',
  8: 'is not writable for this user',
  10: 'cannot be read or written: the disk reports an error',
  11: 'is damaged: restore a backup',
  13: 'cannot be written: the disk is full',
  14: 'cannot be opened: check the owner and the mode of the file and its directory',
  26: 'is not a database: restore a backup, or move the file away to start empty',
}

/** Why the database in `dataDir` cannot be opened, as a sentence for the operator. */
export function unavailable(dataDir: string, cause: unknown): StorageUnavailable {
  if (cause instanceof StorageUnavailable) return cause
  return new StorageUnavailable(sentence(dataDir, cause), { cause })
}

function sentence(dataDir: string, cause: unknown): string {
  const errcode = errcodeOf(cause)
  const sqliteTrouble = typeof errcode === 'number' ? SQLITE_TROUBLE[errcode & 0xff] : undefined
  if (sqliteTrouble) return `the database ${databasePath(dataDir)} ${sqliteTrouble}`
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const fileTrouble = FILE_TROUBLE[code]
  if (fileTrouble) return `the data directory ${dataDir} ${fileTrouble}`
  return `the database ${databasePath(dataDir)} cannot be used: ${cause instanceof Error ? cause.message : cause}`
}
