import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, type Stats, writeSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Clock } from '../kernel/clock.ts'
import { errorCode } from '../kernel/error-code.ts'
import { type Destination, writeInPool } from './destination.ts'
import { periodNumber, type RotationPeriod, shiftBackups } from './rotation.ts'

/** How long lines may still go to a file that logrotate has moved away. They are not lost, only in the older file. */
const FOLLOW_INTERVAL_MS = 1000

/** Only the service's own user reads the log: it names users, addresses and paths. */
const FILE_MODE = 0o600

export interface LogFileSettings {
  readonly path: string
  /** Size at which a new file is started. 0: no limit. */
  readonly maxBytes: number
  readonly rotate?: RotationPeriod | undefined
  /** Older files kept as `<path>.1`, `.2`, …; 0 discards what was written. */
  readonly backupCount: number
}

/** The log file cannot be opened: a configuration error, for the operator to read. */
export class LogFileError extends Error {
  override readonly name = 'LogFileError'
}

/** The file named by SVCD_LOG_FILE: follows a rename from outside, and rotates itself by size and by period. */
export class LogFile implements Destination {
  readonly #settings: LogFileSettings
  readonly #clock: Clock
  #fd: number
  #file: Stats
  #sizeBytes: number
  /** The period of the newest record in the file; unknown while it is empty. */
  #period: number | undefined
  #followedAtMs: number

  constructor(settings: LogFileSettings, clock: Clock) {
    this.#settings = settings
    this.#clock = clock
    try {
      this.#fd = openForAppend(settings.path)
    } catch (cause) {
      throw new LogFileError(`SVCD_LOG_FILE: cannot write ${settings.path} (${errorCode(cause) ?? cause})`, { cause })
    }
    this.#file = fstatSync(this.#fd)
    this.#sizeBytes = this.#file.size
    this.#period = this.#periodOf(this.#file)
    this.#followedAtMs = clock.nowMs()
  }

  async follow(): Promise<void> {
    const sinceMs = this.#clock.nowMs() - this.#followedAtMs
    if (sinceMs >= 0 && sinceMs < FOLLOW_INTERVAL_MS) return
    this.#followedAtMs = this.#clock.nowMs()
    const found = await stat(this.#settings.path).catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    })
    if (found?.ino !== this.#file.ino || found.dev !== this.#file.dev) this.#reopen()
    else this.#sizeBytes = found.size // someone may have truncated it in place
  }

  room(nextBytes: number): number {
    if (this.#isRotationDue(nextBytes)) this.#rotate()
    if (this.#settings.maxBytes === 0) return Number.POSITIVE_INFINITY
    return this.#settings.maxBytes - this.#sizeBytes
  }

  writeSync(bytes: Uint8Array): number {
    return this.#wrote(writeSync(this.#fd, bytes))
  }

  async write(bytes: Uint8Array): Promise<number> {
    return this.#wrote(await writeInPool(this.#fd, bytes))
  }

  close(): void {
    closeSync(this.#fd)
  }

  #wrote(bytes: number): number {
    this.#sizeBytes += bytes
    const { rotate } = this.#settings
    if (rotate) this.#period = periodNumber(rotate, this.#clock.nowMs())
    return bytes
  }

  /** An empty file is never rotated, so a record larger than the limit gets a file of its own. */
  #isRotationDue(nextBytes: number): boolean {
    const { maxBytes, rotate } = this.#settings
    if (this.#sizeBytes === 0 || !this.#file.isFile()) return false
    if (maxBytes > 0 && this.#sizeBytes + nextBytes > maxBytes) return true
    // Later, not different: a clock that was set back must not rotate.
    return (
      rotate !== undefined && this.#period !== undefined && periodNumber(rotate, this.#clock.nowMs()) > this.#period
    )
  }

  #rotate(): void {
    // Emptied in place: what is written while the process ends must not go to a file without a name.
    if (this.#settings.backupCount === 0) ftruncateSync(this.#fd)
    shiftBackups(this.#settings.path, this.#settings.backupCount)
    this.#reopen()
  }

  #reopen(): void {
    const fd = openForAppend(this.#settings.path)
    closeSync(this.#fd)
    this.#fd = fd
    this.#file = fstatSync(fd)
    this.#sizeBytes = this.#file.size
    this.#period = this.#periodOf(this.#file)
  }

  /** Across a restart only the file itself knows when it was last written. */
  #periodOf(file: Stats): number | undefined {
    const { rotate } = this.#settings
    return rotate && file.size > 0 ? periodNumber(rotate, file.mtimeMs) : undefined
  }
}

function openForAppend(path: string): number {
  // Non-blocking, because opening a named pipe would otherwise wait for its reader.
  const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK
  const fd = openSync(path, flags, FILE_MODE)
  if (endsInsideLine(path, fstatSync(fd))) writeSync(fd, '\n')
  return fd
}

/** After a power cut or a full disk the last record may be torn; the next one must not be glued to it. */
function endsInsideLine(path: string, file: Stats): boolean {
  if (!file.isFile() || file.size === 0) return false
  try {
    const fd = openSync(path, 'r')
    try {
      const last = Buffer.alloc(1)
      return readSync(fd, last, 0, 1, file.size - 1) === 1 && last.toString() !== '\n'
    } finally {
      closeSync(fd)
    }
  } catch {
    return false // a file we may write and not read: append as it is
  }
}
