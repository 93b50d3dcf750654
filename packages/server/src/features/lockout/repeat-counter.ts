import type { Clock } from '../../kernel/clock.ts'
import { dropOldest } from '../../kernel/drop-oldest.ts'

const INTERVAL_MS = 60_000
const MAX_KEYS = 10_000

/** Says when something that may happen thousands of times is worth a record: the first time, then once a minute. */
export class RepeatCounter {
  readonly #clock: Clock
  readonly #last = new Map<string, { recordedMs: number; since: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How often it happened since the last record, when it is time for one; else undefined. */
  count(key: string): number | undefined {
    const nowMs = this.#clock.nowMs()
    const last = this.#last.get(key)
    if (last && last.recordedMs <= nowMs && nowMs - last.recordedMs < INTERVAL_MS) {
      last.since++
      return undefined
    }
    this.#last.delete(key) // so that it becomes the youngest
    this.#last.set(key, { recordedMs: nowMs, since: 0 })
    dropOldest(this.#last, MAX_KEYS)
    return last?.since ?? 0
  }
}
