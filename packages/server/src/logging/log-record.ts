import type { LogFields, LogLevel } from '../kernel/logger.ts'

/** One call of a logger, before it becomes a line. */
export interface LogRecord {
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly level: LogLevel
  readonly logger: string
  readonly message: string
  readonly fields: LogFields
}

/** Removes what must never be written. See `secret-scrubber.ts`. */
export type Scrub = (text: string) => string

/** Turns a record into finished text, ending in a newline. Never throws. */
export type LineFormat = (record: LogRecord) => string
