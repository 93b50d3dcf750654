import type { Clock } from '../../kernel/clock.ts'

/** Waits, or until `signal` aborts if that is sooner; never fails. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(ms, wake)
    signal?.addEventListener('abort', wake)
  })
}
