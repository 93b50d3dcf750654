import { createHmac, randomBytes } from 'node:crypto'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { dropOldest } from '../../kernel/drop-oldest.ts'

const COOLDOWN_MS = 60_000
const MAX_KEYS = 10_000

/** Lets a mail to an address be asked for once a minute. Keeps no address, and never more than a few thousand digests. */
export class Cooldown {
  readonly #clock: Clock
  readonly #key = randomBytes(32)
  /** When each began; the oldest first. */
  readonly #begun = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Throws while the last one for this address is too recent. The answer takes it back, for a mail that failed. */
  begin(address: string): () => void {
    const nowMs = this.#clock.nowMs()
    this.#dropOver(nowMs)
    const digest = createHmac('sha256', this.#key).update(address.trim().toLowerCase()).digest('base64')
    const begunMs = this.#begun.get(digest)
    if (begunMs !== undefined) {
      const retryAfterSeconds = (begunMs + COOLDOWN_MS - nowMs) / 1000
      throw new AppError('rate_limited', 'Please wait before requesting another email', { retryAfterSeconds })
    }
    this.#begun.set(digest, nowMs)
    dropOldest(this.#begun, MAX_KEYS)
    return () => this.#begun.delete(digest)
  }

  #dropOver(nowMs: number): void {
    for (const [digest, begunMs] of this.#begun) {
      // A start in the future means that the wall clock was set back: better a mail too many than none for hours.
      if (begunMs <= nowMs && nowMs - begunMs < COOLDOWN_MS) break
      this.#begun.delete(digest)
    }
  }
}
