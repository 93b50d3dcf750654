/** Time as the service sees it. Tests move a fake one (`testing/fake-clock.ts`), so nothing sleeps. */
export interface Clock {
  /** Milliseconds since 1970, as on the wall. */
  nowMs(): number
  /** Calls `work` once after `delayMs`. The answer cancels it; who sets a timer cancels it when it stops. */
  after(delayMs: number, work: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs)
    return () => clearTimeout(timer)
  },
}
