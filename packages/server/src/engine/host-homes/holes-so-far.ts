import type { Stats } from 'node:fs'

/** What `st_blocks` counts, whatever the file system's own blocks are. */
const STAT_BLOCK_BYTES = 512
/** A file of which less than this share is on the disk is mostly holes. */
const MIN_SHARE = 1 / 64
const MAX_FILE_BYTES = 1024 ** 3
const MAX_TOTAL_BYTES = 64 * 1024 ** 3

/**
 * Counts the files of a tree that cost their owner nothing, and would cost whoever reads them hours: one command makes
 * a file of terabytes out of holes, and a loop makes thousands of smaller ones.
 */
export class HolesSoFar {
  #bytes = 0

  /** True for a file that is mostly holes, and too large by itself or with those before it. */
  refuse({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): boolean {
    if (blocks * STAT_BLOCK_BYTES >= size * MIN_SHARE) return false
    if (size > MAX_FILE_BYTES || this.#bytes + size > MAX_TOTAL_BYTES) return true
    this.#bytes += size
    return false
  }
}
