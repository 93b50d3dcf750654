import type { Settings } from '../config/settings.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { backupSqlite } from '../storage/sqlite/backup-sqlite.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import type { Storage } from '../storage/storage.ts'

interface Parts {
  readonly clock: Clock
  readonly log: Logger
  readonly onLost: (error: Error) => void
  /** Gives up waiting for another server to let go of the database. */
  readonly ending: AbortSignal
}

/**
 * Opens the database for this server alone. The embedded one is kept from others by the lock of the data directory.
 *
 * This file is the one place that picks a database driver. The PostgreSQL one is loaded only when it is asked for: its
 * client library would cost every other server some megabytes.
 */
export async function openStorage(settings: Settings, parts: Parts): Promise<Storage> {
  const { clock, log, onLost } = parts
  const url = settings.storage.databaseUrl?.reveal()
  if (url !== undefined) return openClaimedPostgres(url, parts)
  return openSqlite({ dataDir: settings.directories.dataDir, clock, logger: log.child('storage'), onLost })
}

/** Claimed before it is upgraded, and until the last row is written. */
async function openClaimedPostgres(url: string, { clock, log, onLost, ending }: Parts): Promise<Storage> {
  const { DatabaseClaim } = await import('../storage/postgres/database-claim.ts')
  const { openPostgres } = await import('../storage/postgres/open-postgres.ts')
  const logger = log.child('storage')
  await using undo = new AsyncDisposableStack()
  const claim = await DatabaseClaim.take({ url, clock, logger, onLost, ending })
  undo.defer(() => claim.release())
  const storage = await openPostgres({ url, clock, logger, onLost })
  undo.defer(() => storage.close())
  const opened = undo.move()
  return { ...storage, close: () => opened.disposeAsync() }
}

/** Copies the database without opening it for use: a backup must not be what upgrades it. */
export async function backupStorage({ storage, directories }: Settings, path: string): Promise<void> {
  const url = storage.databaseUrl?.reveal()
  if (url === undefined) return backupSqlite(directories.dataDir, path)
  const { backupPostgres } = await import('../storage/postgres/backup-postgres.ts')
  return backupPostgres(url, path)
}
