import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'

/** Does something with an archive; the signal it is handed aborts with a refusal when that takes too long. */
export async function withinTime<T>(
  { clock, seconds, what }: { readonly clock: Clock; readonly seconds: number; readonly what: 'read' | 'unpack' },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLong = new AbortController()
  const refusal = new AppError('archive_invalid', `The archive takes longer than ${seconds} s to ${what}`)
  const cancel = clock.after(seconds * 1000, () => tooLong.abort(refusal))
  return work(tooLong.signal).finally(cancel)
}
