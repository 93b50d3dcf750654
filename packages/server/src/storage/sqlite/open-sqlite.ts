import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { Kysely } from 'kysely'
import type { Logger } from '../../kernel/logger.ts'
import { withAftermath } from '../aftermath.ts'
import type { Database } from '../database.ts'
import { FifoLock } from '../fifo-lock.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import { migrate } from '../migrations/migrate.ts'
import { QueryGuard, storageClosed } from '../query-guard.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { createPrivateFile, databasePath, unavailable } from './database-file.ts'
import { SplitSqliteDialect } from './sqlite-dialect.ts'
import { Statements } from './statements.ts'
import { Writer } from './writer.ts'

/** A reader in WAL mode waits for nobody but a recovery; the main thread must not wait longer than this. */
const READER_BUSY_TIMEOUT_MS = 5

export interface SqliteOptions extends StorageOptions {
  /** An existing directory; the database is the file `svc.db` in it. */
  readonly dataDir: string
}

/** Opens, and where needed creates or upgrades, the embedded database. Throws `StorageUnavailable`. */
export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const { dataDir, clock, logger, onLost, migrations = allMigrations } = options
  const path = databasePath(dataDir)
  const guard = new QueryGuard()
  let writer: Writer | undefined
  let reader: DatabaseSync | undefined
  try {
    await createPrivateFile(path)
    writer = new Writer(new Worker(new URL('./writer-worker.ts', import.meta.url)), (error) => {
      guard.refuse(error)
      logger.critical('the database writer stopped; every query is refused from now on', { error })
      onLost?.(error)
    })
    await writer.open(path)
    reader = new DatabaseSync(path, { readOnly: true, timeout: READER_BUSY_TIMEOUT_MS })
    const storage = sqliteStorage({ reader, writer, guard, logger })
    await migrate({ transaction: storage.transaction, dialect: 'sqlite', migrations, clock })
    return storage
  } catch (cause) {
    reader?.close()
    await writer?.close()
    throw unavailable(dataDir, cause)
  }
}

interface SqliteStorageParts {
  readonly reader: DatabaseSync
  readonly writer: Writer
  readonly guard: QueryGuard
  readonly logger: Logger
}

function sqliteStorage({ reader, writer, guard, logger }: SqliteStorageParts): Storage {
  const writerLock = new FifoLock()
  const dialect = new SplitSqliteDialect({ reader: new Statements(reader), writer, writerLock, guard })
  const db = new Kysely<Database>({ dialect })
  let closing: Promise<void> | undefined

  async function closeParts(): Promise<void> {
    guard.refuse(storageClosed())
    const giveBack = await writerLock.acquire() // whoever has the turn finishes, those who wait for it are refused
    reader.close()
    await writer.close() // last: the last connection to close empties the write-ahead log into the database
    giveBack()
  }

  return {
    db,
    transaction: (work) =>
      withAftermath((body) => db.transaction().execute((tx) => guard.duringTransaction(() => body(tx))), work, logger),
    close: () => {
      closing ??= closeParts()
      return closing
    },
  }
}
