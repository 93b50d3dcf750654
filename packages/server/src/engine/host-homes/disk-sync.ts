import type { FileHandle } from 'node:fs/promises'

/** One less than Node has threads for files, which everything else in the process waits for too. */
const AT_ONCE = 3

/** Brings files to the disk, some at a time: one after the other, each would wait for the disk alone. */
export class DiskSync {
  readonly #running = new Set<Promise<void>>()
  readonly #failures: unknown[] = []

  /** Takes the file over, and closes it once it is on the disk. Resolves when there is room for the next. */
  async add(file: Pick<FileHandle, 'sync' | 'close'>): Promise<void> {
    const done = syncAndClose(file)
      .catch((error: unknown) => void this.#failures.push(error))
      .finally(() => this.#running.delete(done))
    this.#running.add(done)
    if (this.#running.size >= AT_ONCE) await Promise.race(this.#running)
  }

  /** Resolves when all are closed, on the disk or not. */
  async closed(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Throws when one of them could not be brought to the disk. */
  async done(): Promise<void> {
    await this.closed()
    if (this.#failures.length > 0) throw this.#failures[0]
  }
}

async function syncAndClose(file: Pick<FileHandle, 'sync' | 'close'>): Promise<void> {
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
