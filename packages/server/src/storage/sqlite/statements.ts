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
    const values = parameters as SQLInputValue[] // checked by node:sqlite itself, value by value
    if (answersRows) return { rows: statement.all(...values), changes: undefined }
    return { rows: [], changes: Number(statement.run(...values).changes) }
  }

  #prepare(sql: string) {
    let entry = this.#prepared.get(sql)
    if (entry) {
      this.#prepared.delete(sql)
    } else {
      const statement = this.#db.prepare(sql)
      entry = { statement, answersRows: statement.columns().length > 0 }
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined && this.#prepared.size >= KEPT_STATEMENTS) this.#prepared.delete(oldest)
    }
    this.#prepared.set(sql, entry)
    return entry
  }
}
