import { type LogFields, type Logger, type LogLevel, logLevels } from '../kernel/logger.ts'

/** What all loggers of one service share. */
export interface LogOutput {
  /** Calls below this number end before anything is formatted. */
  threshold: number
  write(level: LogLevel, logger: string, message: string, fields: LogFields): void
}

const NO_FIELDS: LogFields = {}

export class NamedLogger implements Logger {
  readonly #output: LogOutput
  readonly #name: string
  readonly #fields: LogFields | undefined

  constructor(output: LogOutput, name: string, fields?: LogFields) {
    this.#output = output
    this.#name = name
    this.#fields = fields
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('DEBUG', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#log('INFO', message, fields)
  }

  warning(message: string, fields?: LogFields): void {
    this.#log('WARNING', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#log('ERROR', message, fields)
  }

  critical(message: string, fields?: LogFields): void {
    this.#log('CRITICAL', message, fields)
  }

  child(name: string, fields?: LogFields): Logger {
    return new NamedLogger(this.#output, name, this.#fields ? { ...this.#fields, ...fields } : fields)
  }

  #log(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (logLevels[level] < this.#output.threshold) return
    const all = this.#fields && fields ? { ...this.#fields, ...fields } : (fields ?? this.#fields ?? NO_FIELDS)
    this.#output.write(level, this.#name, message, all)
  }
}
