import type { Kysely, Transaction } from 'kysely'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Database } from './database.ts'
import type { Migration } from './migrations/migration.ts'

/**
 * The database, as the features see it. Every driver keeps these promises:
 *
 * - Transactions run one after the other, in the order asked for, so "count, then insert" needs no further lock.
 *   A transaction should therefore be short: a slow call to an engine or a mail server inside it holds up every writer.
 * - Inside a transaction only its own handle may be used; asking `db` or `transaction` there is refused, because it
 *   would wait for itself.
 * - After a statement of a transaction failed, the transaction can only roll back: catch the error outside of it.
 * - What was acknowledged is on the disk, and every read that starts afterwards sees it.
 *
 * Values: integers are plain numbers; a boolean is an integer column holding 0 or 1, in every database (write
 * `disabled ? 1 : 0`, read `row.disabled === 1`); JSON is text; a moment is epoch seconds with fractions.
 * An inserted row's id comes from `returning('id')`.
 */
export interface Storage {
  /**
   * Single statements. A select may run on the main thread, so it must use an index or be paged; raw `sql` queues
   * behind the writers like any change. For several statements that belong together use `transaction` of this
   * interface, never `db.transaction()`, which does not keep the order promised above.
   */
  readonly db: Kysely<Database>
  /** Commits when `work` resolves, rolls back when it throws; resolves once the commit is durable. */
  transaction<T>(work: (tx: Transaction<Database>) => Promise<T>): Promise<T>
  /** Lets running work finish and refuses all other. Closing twice is not an error. */
  close(): Promise<void>
}

/** What every driver is opened with. */
export interface StorageOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Told when the database is lost for good and every query is refused; only a restart helps. */
  readonly onLost?: (error: Error) => void
  /** For tests; the program's own list otherwise. */
  readonly migrations?: readonly Migration[]
}

/** The database cannot be used. `message` is a sentence for the operator and holds no password. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
}

/** A backup was not written, and nothing was left at its place. `message` is a sentence for the operator. */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed'
}
