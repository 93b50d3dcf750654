import { FifoLock } from '../../storage/fifo-lock.ts'

/** One lock for each key. A lock that nobody holds or waits for is forgotten. */
export class KeyedLock {
  readonly #locks = new Map<string, { readonly lock: FifoLock; users: number }>()

  /** Locks that are held or waited for. */
  get size(): number {
    return this.#locks.size
  }

  isHeld(key: string): boolean {
    return this.#locks.has(key)
  }

  /** Runs `work` when everybody who asked before has finished. It must not ask for the same key itself. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#locks.get(key) ?? { lock: new FifoLock(), users: 0 }
    this.#locks.set(key, entry)
    entry.users++
    const release = await entry.lock.acquire()
    try {
      return await work()
    } finally {
      release()
      entry.users--
      if (entry.users === 0) this.#locks.delete(key)
    }
  }
}
