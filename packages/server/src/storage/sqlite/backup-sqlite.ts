import { backup, DatabaseSync } from 'node:sqlite'
import { writeNewFile } from '../new-file.ts'
import { databasePath, unavailable } from './database-file.ts'

/**
 * Every page in one step. A step runs in Node's thread pool under one read transaction: smaller steps would start over
 * at each commit of a busy server, for ever.
 */
const PAGES_PER_STEP = 2 ** 31 - 1

/** Copies the database of `dataDir` to a new file. Needs no opened storage: a server may or may not be running. */
export async function backupSqlite(dataDir: string, path: string): Promise<void> {
  const source = openSource(dataDir)
  try {
    await writeNewFile(path, async (temporaryPath) => {
      await backup(source, temporaryPath, { rate: PAGES_PER_STEP })
    })
  } finally {
    source.close()
  }
}

function openSource(dataDir: string): DatabaseSync {
  try {
    return new DatabaseSync(databasePath(dataDir), { readOnly: true })
  } catch (cause) {
    throw unavailable(dataDir, cause)
  }
}
