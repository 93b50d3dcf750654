import type { Clock } from '../../kernel/clock.ts'

/** Resolves after so long, or at once when `signal` aborts. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(delayMs, done)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    if (signal?.aborted) done()
  })
}
