import { DatabaseSync } from 'node:sqlite'
import { parentPort } from 'node:worker_threads'
import { carry } from './sqlite-error.ts'
import { type StatementResult, Statements } from './statements.ts'
import type { WriterReply, WriterRequest, WriterTask } from './writer-protocol.ts'

// The thread of the one connection that writes. It is allowed to wait for the disk; the main thread is not.

/** How long to wait for another process that is writing, such as an operator's `sqlite3`. */
const BUSY_TIMEOUT_MS = 5_000

const NOTHING: StatementResult = { rows: [], changes: undefined }

class WriterConnection {
  readonly #db: DatabaseSync
  readonly #statements: Statements

  constructor(path: string) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
    this.#statements = new Statements(this.#db)
    const [mode] = this.#statements.run('pragma journal_mode = wal', []).rows
    if (mode?.journal_mode !== 'wal') throw new Error('the file system does not support write-ahead logging')
    // FULL: in WAL mode NORMAL would let a power cut take back commits that were acknowledged.
    this.#db.exec('pragma synchronous = full')
  }

  answer(task: Exclude<WriterTask, { kind: 'open' }>): StatementResult {
    switch (task.kind) {
      case 'run':
        return this.#run(task.sql, task.parameters)
      case 'begin':
        // IMMEDIATE: takes SQLite's write lock now, so that no later statement of the transaction can find it taken.
        this.#db.exec('begin immediate')
        return NOTHING
      case 'commit':
        this.#db.exec('commit')
        return NOTHING
      case 'rollback':
        if (this.#db.isTransaction) this.#db.exec('rollback')
        return NOTHING
      case 'close':
        this.#db.close()
        return NOTHING
    }
  }

  #run(sql: string, parameters: readonly unknown[]): StatementResult {
    const wasInTransaction = this.#db.isTransaction
    const result = this.#statements.run(sql, parameters)
    if (this.#db.isTransaction === wasInTransaction) return result
    throw new Error('a statement began or ended a transaction: only `transaction` of the storage may')
  }
}

const port = parentPort
if (!port) throw new Error('this file is the main file of a worker thread')

let connection: WriterConnection | undefined

port.on('message', (request: WriterRequest) => {
  port.postMessage(replyTo(request))
  if (request.kind === 'close') port.close()
})

function replyTo(request: WriterRequest): WriterReply {
  const { id } = request
  try {
    if (request.kind === 'open') {
      connection = new WriterConnection(request.path)
      return { id, result: NOTHING }
    }
    return { id, result: connection?.answer(request) ?? NOTHING }
  } catch (error) {
    // A transaction that cannot be ended would swallow everybody's next writes: end the thread instead.
    if (request.kind === 'rollback') throw error
    return { id, error: carry(error) }
  }
}
