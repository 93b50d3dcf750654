/** From quiet to loud as an operator thinks of them; the numbers order them and may be used in settings. */
export const logLevels = { DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, CRITICAL: 50 } as const
export type LogLevel = keyof typeof logLevels

/** Facts beside the message. `error` is printed with its stack and causes. Never a token, password or query string. */
export interface LogFields {
  readonly error?: unknown
  readonly [name: string]: unknown
}

/** Where a part of the service writes what it did. Writing never throws and never waits for the destination. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warning(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  critical(message: string, fields?: LogFields): void
  /** The same destinations under another name, with `fields` in every line. */
  child(name: string, fields?: LogFields): Logger
}
