import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { backupPostgres } from '../storage/postgres/backup-postgres.ts'
import { openPostgres } from '../storage/postgres/open-postgres.ts'
import { backupSqlite } from '../storage/sqlite/backup-sqlite.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import type { Storage, StorageOptions } from '../storage/storage.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'
import { findPostgres, startPostgres } from './postgres.ts'

/** A database that belongs to one test. It may be opened, closed and opened again. */
export interface TestDatabase {
  open(options?: Partial<StorageOptions>): Promise<Storage>
  /** As `svcd backup` does it, whether or not the database is open. */
  backup(path: string): Promise<void>
  /** How `testing/write-server.ts` opens this database in another process. */
  readonly writeServer: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

/** Makes databases of one kind, for one test file. */
export interface DatabaseHost {
  create(): Promise<TestDatabase>
  /** A new database with the contents of a backup, made the way the operator's guide says. */
  restore(backupPath: string): Promise<TestDatabase>
  /** An empty folder that is removed with the host. */
  folder(): Promise<string>
  stop(): Promise<void>
}

export interface StorageKind {
  readonly name: string
  readonly installed: boolean
  start(): Promise<DatabaseHost>
}

/** Every driver. Suites run over all of them: `for (const kind of storageKinds) describe.skipIf(!kind.installed)(…)` */
export const storageKinds: readonly StorageKind[] = [
  { name: 'sqlite', installed: true, start: startSqliteHost },
  { name: 'postgres', installed: findPostgres() !== undefined, start: startPostgresHost },
]

/** Starts a host for the tests of the surrounding `describe`, and closes whatever they opened. */
export function useDatabases(kind: StorageKind): Omit<DatabaseHost, 'stop'> {
  const started = Promise.withResolvers<DatabaseHost>()
  const opened: Storage[] = []
  beforeAll(async () => started.resolve(await kind.start()))
  afterEach(async () => {
    for (const storage of opened.splice(0)) await storage.close()
  })
  afterAll(async () => (await started.promise).stop())

  const closedAfterwards = (database: TestDatabase): TestDatabase => ({
    ...database,
    async open(options) {
      const storage = await database.open(options)
      opened.push(storage)
      return storage
    },
  })
  return {
    create: async () => closedAfterwards(await (await started.promise).create()),
    restore: async (backupPath) => closedAfterwards(await (await started.promise).restore(backupPath)),
    folder: async () => (await started.promise).folder(),
  }
}

const defaults = { clock: new FakeClock(), logger: new MemoryLog() }

async function startSqliteHost(): Promise<DatabaseHost> {
  const { folder, removeAll } = temporaryFolders()
  const databaseIn = (dataDir: string): TestDatabase => ({
    open: (options) => openSqlite({ ...defaults, dataDir, ...options }),
    backup: (path) => backupSqlite(dataDir, path),
    writeServer: { args: [dataDir], env: {} },
  })
  return {
    folder,
    create: async () => databaseIn(await folder()),
    async restore(backupPath) {
      const dataDir = await folder()
      await copyFile(backupPath, join(dataDir, 'svc.db'))
      return databaseIn(dataDir)
    },
    stop: removeAll,
  }
}

async function startPostgresHost(): Promise<DatabaseHost> {
  const cluster = await startPostgres()
  if (!cluster) throw new Error('PostgreSQL is not installed')
  const { folder, removeAll } = temporaryFolders()
  const databaseAt = (url: string): TestDatabase => ({
    open: (options) => openPostgres({ ...defaults, url, ...options }),
    backup: (path) => backupPostgres(url, path),
    writeServer: { args: [], env: { DATABASE_URL: url } },
  })
  return {
    folder,
    create: async () => databaseAt(await cluster.createDatabase()),
    async restore(backupPath) {
      const url = await cluster.createDatabase()
      const database = new URL(url).pathname.slice(1)
      await cluster.runTool('pg_restore', ['--exit-on-error', `--dbname=${database}`, backupPath], url)
      return databaseAt(url)
    },
    async stop() {
      await cluster.stop()
      await removeAll()
    },
  }
}

function temporaryFolders() {
  const folders: string[] = []
  return {
    async folder() {
      const path = await mkdtemp(join(tmpdir(), 'svc-storage-'))
      folders.push(path)
      return path
    },
    async removeAll() {
      for (const path of folders) await rm(path, { recursive: true })
    },
  }
}
