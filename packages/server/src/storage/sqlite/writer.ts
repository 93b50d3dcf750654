import type { Worker } from 'node:worker_threads'
import { SqliteError } from './sqlite-error.ts'
import type { StatementResult } from './statements.ts'
import type { WriterReply, WriterRequest, WriterTask } from './writer-protocol.ts'

/** The main thread's end of `writer-worker.ts`. Owns the thread. */
export class Writer {
  readonly #worker: Worker
  readonly #pending = new Map<number, PromiseWithResolvers<StatementResult>>()
  readonly #ended = Promise.withResolvers<void>()
  #lastId = 0
  #refusal: Error | undefined
  #closing = false

  /** `onLost` is called when the thread ends without having been asked to. */
  constructor(worker: Worker, onLost: (error: Error) => void) {
    this.#worker = worker
    worker.on('message', (reply: WriterReply) => this.#settle(reply))
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      const reason = this.#closing
        ? new Error('the database writer is closed')
        : new Error('the database writer stopped unexpectedly; the server has to be restarted', { cause })
      this.#refuse(reason)
      this.#ended.resolve()
      if (!this.#closing) onLost(reason)
    })
  }

  async open(path: string): Promise<void> {
    await this.#ask({ kind: 'open', path })
  }

  run(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return this.#ask({ kind: 'run', sql, parameters })
  }

  async begin(): Promise<void> {
    await this.#ask({ kind: 'begin' })
  }

  async commit(): Promise<void> {
    await this.#ask({ kind: 'commit' })
  }

  async rollback(): Promise<void> {
    await this.#ask({ kind: 'rollback' })
  }

  /** Closes the database and waits for the thread to end. Closing twice is not an error. */
  async close(): Promise<void> {
    if (!this.#closing && !this.#refusal) {
      this.#closing = true
      await this.#ask({ kind: 'close' })
    }
    await this.#ended.promise
  }

  async #ask(task: WriterTask): Promise<StatementResult> {
    if (this.#refusal) throw this.#refusal
    const id = ++this.#lastId
    this.#worker.postMessage({ ...task, id } satisfies WriterRequest)
    const pending = Promise.withResolvers<StatementResult>()
    this.#pending.set(id, pending)
    return pending.promise
  }

  #settle(reply: WriterReply): void {
    const pending = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    if ('error' in reply) pending?.reject(new SqliteError(reply.error))
    else pending?.resolve(reply.result)
  }

  /** There is no thread to answer any more. */
  #refuse(reason: Error): void {
    this.#refusal = reason
    for (const pending of this.#pending.values()) pending.reject(reason)
    this.#pending.clear()
  }
}
