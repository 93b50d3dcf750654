import { clientKey } from '../kernel/client-key.ts'
import type { Clock } from '../kernel/clock.ts'
import { dropOldest } from '../kernel/drop-oldest.ts'

const WINDOW_MS = 60_000
/** So many clients are remembered; beyond it the oldest window is forgotten, which only ever favours a client. */
const MAX_CLIENTS = 10_000

interface Window {
  startedMs: number
  count: number
}

/** Counts requests per client address in fixed windows of a minute. */
export class RateLimiter {
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts one request. Says how long to wait when it is one too many, and whether that is news in this window. */
  take(address: string, limit: number): { retryAfterSeconds: number; first: boolean } | undefined {
    const key = clientKey(address)
    const nowMs = this.#clock.nowMs()
    const window = this.#windows.get(key)
    // The second test is for a wall clock that was set back: no window may outlast its minute.
    if (!window || nowMs - window.startedMs >= WINDOW_MS || nowMs < window.startedMs) {
      this.#open(key, nowMs)
      return undefined
    }
    window.count++
    if (window.count <= limit) return undefined
    const waitMs = window.startedMs + WINDOW_MS - nowMs
    return { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)), first: window.count === limit + 1 }
  }

  #open(key: string, nowMs: number): void {
    this.#windows.delete(key) // a reopened window moves to the young end
    this.#windows.set(key, { startedMs: nowMs, count: 1 })
    dropOldest(this.#windows, MAX_CLIENTS)
  }
}
