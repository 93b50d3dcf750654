import type { Clock } from '../kernel/clock.ts'

/** A clock that stands still until `advance` moves it; due timers run in order, at their own time. */
export class FakeClock implements Clock {
  #nowMs: number
  #timers: { dueMs: number; work: () => void }[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, work: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, work }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  advance(ms: number): void {
    const endMs = this.#nowMs + ms
    for (;;) {
      const next = this.#timers.filter((timer) => timer.dueMs <= endMs).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (!next) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#nowMs = next.dueMs
      next.work()
    }
    this.#nowMs = endMs
  }
}
