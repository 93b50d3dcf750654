/** An error of the writer's thread, carried over: structured cloning would drop everything but the message. */
export interface CarriedError {
  readonly message: string
  readonly code: unknown
  readonly errcode: unknown
}

/** The same shape as `node:sqlite`'s own errors, so that nobody needs to know which thread failed. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError'
  /** `ERR_SQLITE_ERROR` when SQLite refused; another Node code when a value could not be bound. */
  readonly code: unknown
  /** SQLite's extended result code. */
  readonly errcode: unknown

  constructor({ message, code, errcode }: CarriedError) {
    super(message)
    this.code = code
    this.errcode = errcode
  }
}

export function carry(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, errcode: undefined }
  return {
    message: error.message,
    code: 'code' in error ? error.code : undefined,
    errcode: errcodeOf(error),
  }
}

export function errcodeOf(error: unknown): unknown {
  return error instanceof Error && 'errcode' in error ? error.errcode : undefined
}
