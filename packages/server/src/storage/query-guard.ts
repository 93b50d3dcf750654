import { AsyncLocalStorage } from 'node:async_hooks'

/** Decides whether a query may start now. Every driver asks before it hands out a connection. */
export class QueryGuard {
  readonly #transaction = new AsyncLocalStorage<{ open: boolean }>()
  #refusal: Error | undefined

  check(): void {
    if (this.#refusal) throw this.#refusal
    if (this.#transaction.getStore()?.open) {
      throw new Error('a query outside the open transaction was asked from inside it: use the handle it was given')
    }
  }

  /** Runs the body of a transaction. What it leaves running may use the storage again once it has ended. */
  async duringTransaction<T>(work: () => Promise<T>): Promise<T> {
    const transaction = { open: true }
    try {
      return await this.#transaction.run(transaction, work)
    } finally {
      transaction.open = false
    }
  }

  /** From now on every query is refused with `reason`; the first reason given stays. */
  refuse(reason: Error): void {
    this.#refusal ??= reason
  }
}

export const storageClosed = () => new Error('the storage is closed')
