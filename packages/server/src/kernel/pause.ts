import type { Clock } from './clock.ts'

/** Resolves after a time, or as soon as `signal` aborts. Never fails. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.after(delayMs, wake)
    signal?.addEventListener('abort', wake)
  })
}
