import { AppError } from '../../kernel/app-error.ts'
import type { ReadBudget } from './tar/tar-reader.ts'

/** More than any home we have seen holds; each costs a file, and time. */
export const MAX_ENTRIES = 2_000_000
/** What must stay free on the disk behind an import. */
export const RESERVE_BYTES = 2 * 1024 ** 3
/** What a file system takes for each file at the least. */
const PER_ENTRY_BYTES = 4096
const MB = 1024 * 1024

interface UnpackLimits {
  readonly freeBytes: number
  /** The operator's own limit. */
  readonly maxMb: number | undefined
  /** For tests; `MAX_ENTRIES` otherwise. */
  readonly maxEntries?: number
}

/** Counts what an archive unpacks to while it is being read, whatever it announced. */
export class UnpackBudget implements ReadBudget {
  readonly #limits: UnpackLimits
  #entries = 0
  #bytes = 0

  constructor(limits: UnpackLimits) {
    this.#limits = limits
  }

  entry(): void {
    this.#entries++
    const { maxEntries = MAX_ENTRIES } = this.#limits
    if (this.#entries > maxEntries) {
      throw new AppError('archive_invalid', `The archive holds more than ${maxEntries} members`)
    }
    this.#requireRoom()
  }

  bytes(count: number): void {
    this.#bytes += count
    const { maxMb } = this.#limits
    if (maxMb !== undefined && this.#bytes > maxMb * MB) {
      throw new AppError('archive_too_large', `The archive exceeds ${maxMb} MB unpacked`)
    }
    this.#requireRoom()
  }

  #requireRoom(): void {
    if (this.#bytes + this.#entries * PER_ENTRY_BYTES > this.#limits.freeBytes - RESERVE_BYTES) {
      throw new AppError('archive_too_large', 'The archive needs more space unpacked than this server has left')
    }
  }
}
