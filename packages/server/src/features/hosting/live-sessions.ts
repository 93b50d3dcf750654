import type { Clock } from '../../kernel/clock.ts'
import { ReadCache } from '../../kernel/read-cache.ts'
import type { Sessions } from '../sessions/sessions.ts'

const KEPT = 10_000

/** Whether a session that is known by its id, and not by its present token, is still going on. */
export class LiveSessions {
  readonly #clock: Clock
  readonly #ends: ReadCache<number>

  constructor(parts: { sessions: Pick<Sessions, 'listOf'>; clock: Clock }) {
    this.#clock = parts.clock
    this.#ends = new ReadCache({
      capacity: KEPT,
      async load(key) {
        const [userId = '', sessionId] = key.split(' ')
        return (await parts.sessions.listOf(userId)).find(({ id }) => id === sessionId)?.expiresAt
      },
    })
  }

  async has({ userId, sessionId }: { userId: string; sessionId: string }): Promise<boolean> {
    const key = keyOf(userId, sessionId)
    const expiresAt = this.#ends.peek(key) ?? (await this.#ends.get(key))
    return expiresAt !== undefined && expiresAt * 1000 > this.#clock.nowMs()
  }

  /** To be called when sessions ended or got another end. */
  forgetAll(): void {
    this.#ends.clear()
  }
}

const keyOf = (userId: string, sessionId: string): string => `${userId} ${sessionId}`
