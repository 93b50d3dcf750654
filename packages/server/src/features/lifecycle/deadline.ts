import type { Clock } from '../../kernel/clock.ts'

/** Something took longer than it may. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/** A signal that aborts after a time, or with another signal. `done` gives the timer back. */
export function deadline(
  clock: Clock,
  delayMs: number,
  what: string,
  other?: AbortSignal,
): { readonly signal: AbortSignal; done(): void } {
  const late = new AbortController()
  const reason = new TookTooLong(`${what} took longer than ${delayMs / 1000} s`)
  const done = clock.after(delayMs, () => late.abort(reason))
  return { signal: other ? AbortSignal.any([other, late.signal]) : late.signal, done }
}
