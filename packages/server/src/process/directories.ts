import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A directory of ours cannot be made or written. `message` is a sentence for the operator. */
export class DirectoryUnusable extends Error {
  override readonly name = 'DirectoryUnusable'
}

/** Another server works on the same data. */
export class DataDirectoryInUse extends Error {
  override readonly name = 'DataDirectoryInUse'
}

/** Makes a directory that only its owner may look into. */
export async function makePrivateDirectory(path: string, setting: string): Promise<void> {
  await orUnusable(setting, path, () => mkdir(path, { recursive: true, mode: 0o700 }))
}

/** Does `work` in a directory; a failure becomes a sentence that names the setting. */
export async function orUnusable<T>(setting: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DirectoryUnusable(`${setting}: the directory ${path} cannot be used: ${reason}`, { cause })
  }
}

/**
 * Holds the data directory for this process. The lock is the operating system's, taken through an empty SQLite file:
 * it cannot outlive its holder, so a killed server never leaves one behind and a reused process number fools nobody.
 */
export class DataDirectoryLock {
  readonly #lock: DatabaseSync
  readonly #pidFile: string

  private constructor(lock: DatabaseSync, pidFile: string) {
    this.#lock = lock
    this.#pidFile = pidFile
  }

  /** Throws `DataDirectoryInUse`. The process number goes into `pidFile`, for people and service managers. */
  static async acquire(dataDir: string, pidFile: string): Promise<DataDirectoryLock> {
    const path = join(dataDir, 'svcd.lock')
    let lock: DatabaseSync | undefined
    try {
      lock = new DatabaseSync(path, { timeout: 0 })
      lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE') // no journal file: nothing is ever written
    } catch (cause) {
      lock?.close()
      const SQLITE_BUSY = 5
      if (!(cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY)) {
        throw new DirectoryUnusable(`SVCD_DATA_DIR: ${dataDir} cannot be locked`, { cause })
      }
      const holder = await readFile(pidFile, 'utf8').then(
        (text) => ` (process ${text.trim()})`,
        () => '',
      )
      throw new DataDirectoryInUse(`Another svcd${holder} is using the data directory ${dataDir}; stop it first`)
    }
    try {
      await chmod(path, 0o600)
      await orUnusable('SVCD_STATE_DIR', dirname(pidFile), () =>
        writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 }),
      )
    } catch (error) {
      lock.close()
      throw error
    }
    return new DataDirectoryLock(lock, pidFile)
  }

  async release(): Promise<void> {
    await rm(this.#pidFile, { force: true })
    this.#lock.close()
  }
}
