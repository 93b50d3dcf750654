import { error, type Finding, ok, warning } from './check.ts'

const GIB = 1024 ** 3
/** The database and a start need room to write. */
const LEAST_BYTES = GIB
/** An image, a few homes and their packages. */
const ENOUGH_BYTES = 10 * GIB
const ENOUGH_FILES = 100_000

export interface DiskFacts {
  readonly path: string
  readonly freeBytes: number
  /** Undefined where the file system has no such limit. */
  readonly freeFiles: number | undefined
}

export function judgeDisk({ path, freeBytes, freeFiles }: DiskFacts): Finding {
  const free = `${(freeBytes / GIB).toFixed(1)} GiB free at ${path}`
  const hint = `Make room on the disk of ${path}, or use another one.`
  if (freeBytes < LEAST_BYTES) return error(`only ${free}`, hint)
  if (freeBytes < ENOUGH_BYTES) return warning(`only ${free}`, hint)
  if (freeFiles !== undefined && freeFiles < ENOUGH_FILES) {
    return warning(`${free}, but only ${freeFiles} more files can be made`, hint)
  }
  return ok(free)
}
