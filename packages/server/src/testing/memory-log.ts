import type { LogFields, Logger, LogLevel } from '../kernel/logger.ts'

export interface LogRecord {
  readonly level: LogLevel
  readonly logger: string
  readonly message: string
  readonly fields: LogFields
}

/** A logger that keeps its records, for tests that ask what an operator would have read. */
export class MemoryLog implements Logger {
  readonly records: LogRecord[]
  readonly #name: string
  readonly #fields: LogFields

  constructor(name = 'svcd', fields: LogFields = {}, records: LogRecord[] = []) {
    this.#name = name
    this.#fields = fields
    this.records = records
  }

  debug = this.#writer('DEBUG')
  info = this.#writer('INFO')
  warning = this.#writer('WARNING')
  error = this.#writer('ERROR')
  critical = this.#writer('CRITICAL')

  child(name: string, fields: LogFields = {}): Logger {
    return new MemoryLog(name, { ...this.#fields, ...fields }, this.records)
  }

  #writer(level: LogLevel) {
    return (message: string, fields: LogFields = {}): void => {
      this.records.push({ level, logger: this.#name, message, fields: { ...this.#fields, ...fields } })
    }
  }
}
