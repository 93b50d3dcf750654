import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool, types } from 'pg'
import type { Logger } from '../../kernel/logger.ts'
import { withAftermath } from '../aftermath.ts'
import type { Database } from '../database.ts'
import { FifoLock } from '../fifo-lock.ts'
import { allMigrations } from '../migrations/all-migrations.ts'
import { migrate } from '../migrations/migrate.ts'
import { QueryGuard, storageClosed } from '../query-guard.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { PooledConnection } from './pooled-connection.ts'
import { parseAddress, unavailable } from './server-address.ts'

/** A default server takes 100 connections; this leaves room for several of ours and the operator's tools. */
const POOL_SIZE = 10

/** For a new connection, and for a free one when all are busy. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A server of ours that hangs inside a transaction would hold up all the others: PostgreSQL ends it after this. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000

/** When a connection is silent for this long, the peer is asked whether it is still there. */
export const KEEP_ALIVE_AFTER_MS = 10_000

/**
 * How long one statement may take. Transactions go one after the other, so without a limit one connection that hangs
 * would hold up all of them for ever.
 */
export interface PostgresLimits {
  /** For a lock, above all the one that puts transactions in a row. */
  readonly lockMs: number
  /** For the statement, lock included. The server's own limit: it leaves the connection in order and nothing in doubt. */
  readonly statementMs: number
  /** For the answer. Ours, for a server that hangs or is lost, and therefore longer; the connection is given up. */
  readonly answerMs: number
}

const SERVING: PostgresLimits = { lockMs: 20_000, statementMs: 25_000, answerMs: 30_000 }

/** A step of the schema may have to rewrite a large table, and servers that start together wait for it. */
const UPGRADING: PostgresLimits = { lockMs: 3_600_000, statementMs: 3_600_000, answerMs: 3_605_000 }

/** The advisory lock that puts transactions in a row across servers. Any number will do, if it never changes. */
const TRANSACTION_LOCK = 7_382_114_096

export interface PostgresOptions extends StorageOptions {
  /** `postgres://user:password@host:5432/database`; tables go to the first schema of the user's search path. */
  readonly url: string
  /** For tests; the program's own otherwise. */
  readonly limits?: PostgresLimits
}

/** Opens, and where needed upgrades, a PostgreSQL database. Throws `StorageUnavailable`. */
export async function openPostgres({
  url,
  clock,
  logger,
  migrations = allMigrations,
  limits = SERVING,
}: PostgresOptions): Promise<Storage> {
  const address = parseAddress(url)
  const upgrading = postgresStorage(createPool(url, logger, UPGRADING), logger)
  try {
    await migrate({ transaction: upgrading.transaction, dialect: 'postgres', migrations, clock })
  } catch (cause) {
    throw unavailable(address, cause)
  } finally {
    await upgrading.close()
  }
  return postgresStorage(createPool(url, logger, limits), logger)
}

function postgresStorage(pool: Pool, logger: Logger): Storage {
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
        return await withAftermath(
          (body) =>
            db.transaction().execute(async (tx) => {
              await sql`select pg_advisory_xact_lock(${TRANSACTION_LOCK})`.execute(tx)
              return guard.duringTransaction(() => body(tx))
            }),
          work,
          logger,
        )
      } finally {
        giveBack()
      }
    },
    close: () => {
      guard.refuse(storageClosed())
      closing ??= pool.end()
      return closing
    },
  }
}

function createPool(url: string, logger: Logger, limits: PostgresLimits): Pool {
  const pool = new Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    application_name: 'svcd',
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.answerMs,
    keepAlive: true, // so that a peer that vanished is noticed
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser },
    // Whatever the server's defaults are: what we acknowledge is on the disk, and a transaction that waited for its turn
    // sees what the one before it has written.
    onConnect: async (client) => {
      await client.query("set synchronous_commit to on; set default_transaction_isolation to 'read committed'")
    },
  })
  // An error event that nobody listens to ends the process, and the pool listens only to connections that are idle.
  // The query that was running, or the next one, reports the loss to its caller.
  pool.on('connect', (client) => client.on('error', (error) => logger.warning('lost a database connection', { error })))
  pool.on('error', () => {}) // the same loss, told again by the pool, which has already dropped the connection
  return pool
}

/** Kysely's view of the pool. */
function guarded(pool: Pool, guard: QueryGuard) {
  return {
    options: pool.options,
    async connect() {
      guard.check()
      return new PooledConnection(await pool.connect())
    },
    end: () => pool.end(),
  }
}

/** `pg` answers 64-bit integers and NUMERIC, which is what `sum` of them is, as text. */
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === types.builtins.INT8 || oid === types.builtins.NUMERIC ? toNumber : types.getTypeParser(oid, format)

/** Ours (ids, counts, sizes) stay far below 2^53, up to where numbers are exact. Beyond it SQLite refuses as well. */
function toNumber(text: string): number {
  const value = Number(text)
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
  throw new RangeError(`the database answered ${text}, which is too large for an exact number`)
}
