/**
 * A value a setting does not take. Each reason says what is allowed and never repeats the value:
 * only the loader knows whether it may be shown.
 */
export class InvalidValue extends Error {
  override readonly name = 'InvalidValue'
  readonly reasons: readonly string[]

  constructor(...reasons: readonly string[]) {
    super(reasons.join('; '))
    this.reasons = reasons
  }
}

/** The reasons `error` carries. Any other error is a fault of ours and goes on up. */
export function reasonsOf(error: unknown): readonly string[] {
  if (error instanceof InvalidValue) return error.reasons
  throw error
}
