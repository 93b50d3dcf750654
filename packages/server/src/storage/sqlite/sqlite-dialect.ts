import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { FifoLock } from '../fifo-lock.ts'
import type { QueryGuard } from '../query-guard.ts'
import type { StatementResult, Statements } from './statements.ts'
import type { Writer } from './writer.ts'

export interface SqliteParts {
  /** A read-only connection on this thread. */
  readonly reader: Statements
  readonly writer: Writer
  /** The turn of whoever uses the writer. */
  readonly writerLock: FifoLock
  readonly guard: QueryGuard
}

/** Kysely's SQLite, with our way of running it: selects here, everything else in the writer's thread. */
export class SplitSqliteDialect implements Dialect {
  readonly #parts: SqliteParts

  constructor(parts: SqliteParts) {
    this.#parts = parts
  }

  createDriver = (): Driver => new SplitDriver(this.#parts)
  createAdapter = () => new ConcurrentSqliteAdapter()
  createQueryCompiler = () => new SqliteQueryCompiler()
  createIntrospector = (db: Kysely<unknown>) => new SqliteIntrospector(db)
}

/** Without this Kysely hands out one connection at a time, and reads would wait for transactions. */
class ConcurrentSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class SplitDriver implements Driver {
  readonly #parts: SqliteParts

  constructor(parts: SqliteParts) {
    this.#parts = parts
  }

  async acquireConnection(): Promise<SplitConnection> {
    this.#parts.guard.check()
    return new SplitConnection(this.#parts)
  }

  beginTransaction = (connection: DatabaseConnection) => own(connection).begin()
  commitTransaction = (connection: DatabaseConnection) => own(connection).commit()
  rollbackTransaction = (connection: DatabaseConnection) => own(connection).rollback()
  releaseConnection = (connection: DatabaseConnection) => own(connection).release()

  // The parts are opened and closed by `open-sqlite.ts`.
  async init(): Promise<void> {}
  async destroy(): Promise<void> {}
}

function own(connection: DatabaseConnection): SplitConnection {
  if (connection instanceof SplitConnection) return connection
  throw new Error('this connection belongs to another driver')
}

/** Reads on the main thread until the first change or `begin`; from then on holds the writer's turn and uses it. */
class SplitConnection implements DatabaseConnection {
  readonly #parts: SqliteParts
  #turn: Promise<() => void> | undefined
  #inTransaction = false
  /** Why the open transaction can only roll back. PostgreSQL has the same rule, so code that passes here passes there. */
  #failure: unknown

  constructor(parts: SqliteParts) {
    this.#parts = parts
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    if (!this.#turn && SelectQueryNode.is(query)) {
      this.#parts.guard.check()
      return toQueryResult(this.#parts.reader.run(sql, parameters))
    }
    await this.#takeTurn()
    if (this.#failure) throw this.#refusal()
    try {
      return toQueryResult(await this.#parts.writer.run(sql, parameters))
    } catch (error) {
      if (this.#inTransaction) this.#failure = error
      // A raw `begin` has been refused but has run; left open, it would swallow everybody's next writes.
      else await this.#parts.writer.rollback()
      throw error
    }
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    yield* []
    throw new Error('streaming is not supported: page through the rows instead')
  }

  async begin(): Promise<void> {
    await this.#takeTurn()
    await this.#parts.writer.begin()
    this.#inTransaction = true
  }

  /** On an error the caller, Kysely, rolls back. */
  async commit(): Promise<void> {
    if (this.#failure) throw this.#refusal()
    await this.#parts.writer.commit()
    await this.release()
  }

  async rollback(): Promise<void> {
    try {
      await this.#parts.writer.rollback()
    } finally {
      await this.release()
    }
  }

  /** Gives the writer's turn to the next; the connection may be used again. */
  async release(): Promise<void> {
    const turn = this.#turn
    this.#turn = undefined
    this.#inTransaction = false
    this.#failure = undefined
    const giveBack = await turn
    giveBack?.()
  }

  async #takeTurn(): Promise<void> {
    if (this.#turn) {
      await this.#turn
      return
    }
    this.#turn = this.#parts.writerLock.acquire()
    await this.#turn
    this.#parts.guard.check() // the storage may have been closed while we waited
  }

  #refusal(): Error {
    return new Error('a statement of this transaction failed: it can only be rolled back', { cause: this.#failure })
  }
}

function toQueryResult<R>({ rows, changes }: StatementResult): QueryResult<R> {
  // Kysely knows the row's type from the query; no driver can check it.
  const typedRows = rows as R[]
  return changes === undefined ? { rows: typedRows } : { rows: typedRows, numAffectedRows: BigInt(changes) }
}
