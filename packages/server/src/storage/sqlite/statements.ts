import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Prepared statements kept per connection: more than the program has queries, and a bound for generated ones. */
const KEPT_STATEMENTS = 256

export interface StatementResult {
  readonly rows: Record<string, unknown>[]
  /** Rows changed; undefined for a statement that answers rows. */
  readonly changes: number | undefined
}

/** Runs SQL on one connection, preparing each text once. */
export class Statements {
  readonly #db: DatabaseSync
  /** Least recently used first: a Map keeps the order of insertion. */
  readonly #prepared = new Map<string, { statement: StatementSync; answersRows: boolean }>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  run(sql: string, parameters: readonly unknown[]): StatementResult {
    const { statement, answersRows } = this.#prepare(sql)
    const values = parameters.map(bindable)
    if (answersRows) return { rows: statement.all(...values), changes: undefined }
    return { rows: [], changes: Number(statement.run(...values).changes) }
  }

  #prepare(sql: string) {
    let entry = this.#prepared.get(sql)
    if (entry) {
      this.#prepared.delete(sql)
    } else {
      const statement = this.#db.prepare(sql)
      refuseRemainder(sql, statement)
      entry = { statement, answersRows: statement.columns().length > 0 }
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined && this.#prepared.size >= KEPT_STATEMENTS) this.#prepared.delete(oldest)
    }
    this.#prepared.set(sql, entry)
    return entry
  }
}

/** SQLite prepares the first statement of a text and says nothing of the others, which would never run. */
function refuseRemainder(sql: string, { sourceSQL }: StatementSync): void {
  if (sql.slice(sourceSQL.length).trim() === '') return
  throw new Error(`more than one statement in one text: run them one by one, the first is: ${sourceSQL.trim()}`)
}

/**
 * `node:sqlite` would take a leading object for named parameters, which shifts all others, and store NaN as NULL. A
 * boolean is refused because PostgreSQL refuses it for our integer columns. The message leaves the value out: it may be
 * a secret.
 */
function bindable(value: unknown, index: number): SQLInputValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (value instanceof Uint8Array) return value
  const kind = typeof value === 'number' ? String(value) : typeof value
  throw new TypeError(`parameter ${index + 1} cannot be stored: ${kind} is not text, a finite number, bytes or null`)
}
