import type { Settings } from '../config/settings.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { backupSqlite } from '../storage/sqlite/backup-sqlite.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import type { Storage } from '../storage/storage.ts'

/**
 * This file is the one place that picks a database driver. The PostgreSQL one is loaded only when it is asked for: its
 * client library would cost every other server some megabytes.
 */
export async function openStorage(
  settings: Settings,
  { clock, log, onLost }: { clock: Clock; log: Logger; onLost: (error: Error) => void },
): Promise<Storage> {
  const logger = log.child('storage')
  const url = settings.storage.databaseUrl?.reveal()
  if (url !== undefined) {
    const { openPostgres } = await import('../storage/postgres/open-postgres.ts')
    return openPostgres({ url, clock, logger, onLost })
  }
  return openSqlite({ dataDir: settings.directories.dataDir, clock, logger, onLost })
}

/** Copies the database without opening it for use: a backup must not be what upgrades it. */
export async function backupStorage({ storage, directories }: Settings, path: string): Promise<void> {
  const url = storage.databaseUrl?.reveal()
  if (url === undefined) return backupSqlite(directories.dataDir, path)
  const { backupPostgres } = await import('../storage/postgres/backup-postgres.ts')
  return backupPostgres(url, path)
}
