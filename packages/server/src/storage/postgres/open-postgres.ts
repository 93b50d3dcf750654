import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, types } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import type { Database } from '../database.ts'
import { FifoLock } from '../fifo-lock.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import { migrate } from '../migrations/migrate.ts'
import { QueryGuard, storageClosed } from '../query-guard.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { backupPostgres } from './backup-postgres.ts'
import { parseAddress, unavailable } from './server-address.ts'

/** A default server takes 100 connections; this leaves room for several of ours and the operator's tools. */
const POOL_SIZE = 10

/** For a new connection, and for a free one when all are busy. */
const CONNECT_TIMEOUT_MS = 10_000

/** A server of ours that hangs inside a transaction would hold up all the others: PostgreSQL ends it after this. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/** The advisory lock that puts transactions in a row across servers. Any number will do, if it never changes. */
const TRANSACTION_LOCK = 7_382_114_096

export interface PostgresOptions extends StorageOptions {
  /** `postgres://user:password@host:5432/database`; tables go to the first schema of the user's search path. */
  readonly url: string
}

/** Opens, and where needed upgrades, a PostgreSQL database. Throws `StorageUnavailable`. */
export async function openPostgres({
  url,
  clock,
  logger,
  migrations = allMigrations,
}: PostgresOptions): Promise<Storage> {
  const address = parseAddress(url)
  const storage = postgresStorage(url, createPool(url, logger))
  try {
    await migrate({ transaction: storage.transaction, dialect: 'postgres', migrations, clock })
    return storage
  } catch (cause) {
    await storage.close()
    throw unavailable(address, cause)
  }
}

function postgresStorage(url: string, pool: Pool): Storage {
  const guard = new QueryGuard()
  // Transactions queue here, in front of the pool: queued inside it they would take its connections from the reads.
  const turns = new FifoLock()
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: guarded(pool, guard) }) })
  let closing: Promise<void> | undefined

  return {
    db,
    async transaction(work) {
      guard.check()
      const giveBack = await turns.acquire()
      try {
        return await db.transaction().execute(async (tx) => {
          await sql`select pg_advisory_xact_lock(${TRANSACTION_LOCK})`.execute(tx)
          return guard.duringTransaction(() => work(tx))
        })
      } finally {
        giveBack()
      }
    },
    backup: (path) => backupPostgres(url, path),
    close: () => {
      guard.refuse(storageClosed())
      closing ??= pool.end()
      return closing
    },
  }
}

function createPool(url: string, logger: Logger): Pool {
  const pool = new Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    application_name: 'svcd',
    keepAlive: true, // so that a peer that vanished is noticed
    types: { getTypeParser },
    // Whatever the server's default is: what we acknowledge is on the disk.
    onConnect: async (client) => {
      await client.query('set synchronous_commit to on')
    },
  })
  // An error event that nobody listens to ends the process, and the pool listens only to connections that are idle.
  // The query that was running, or the next one, reports the loss to its caller.
  pool.on('connect', (client) => client.on('error', (error) => logger.warning('lost a database connection', { error })))
  pool.on('error', () => {}) // the same loss, told again by the pool, which has already dropped the connection
  return pool
}

/** Kysely's view of the pool, asking the guard first. */
function guarded(pool: Pool, guard: QueryGuard) {
  return {
    options: pool.options,
    async connect() {
      guard.check()
      return pool.connect()
    },
    end: () => pool.end(),
  }
}

/** `pg` answers 64-bit integers as text. Ours (ids, counts, sizes) stay far below 2^53, where numbers are exact. */
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)
