import { write } from 'node:fs'

/** Where finished lines go: a stream or a file. Faults are thrown; `LineWriter` decides what they mean. */
export interface Destination {
  /** Notices that the destination was moved or replaced from outside. */
  follow?(): Promise<void>
  /** How many bytes may go into the next write, whose first record has `nextBytes`. May start a new file. */
  room?(nextBytes: number): number
  /** Writes what it can without waiting for a reader; may write less, or throw `EAGAIN` when nothing fits. */
  writeSync(bytes: Uint8Array): number
  /** The same outside the event loop. Present where `writeSync` has to wait for a disk. */
  write?(bytes: Uint8Array): Promise<number>
  close(): void
}

/** One write in the thread pool, for a descriptor whose writes wait for a disk. */
export function writeInPool(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => (error ? reject(error) : resolve(written)))
  })
}
