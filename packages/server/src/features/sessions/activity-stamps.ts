import type { Clock } from '../../kernel/clock.ts'
import { dropOldest } from '../../kernel/drop-oldest.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Storage } from '../../storage/storage.ts'

/** Nobody's stamp is written more often than this. */
const INTERVAL_SECONDS = 60
/** Stamps of this long are written together. */
const GATHER_MS = 2_000
const REMEMBERED = 20_000

/** Notes when people and their sessions were last active: seldom, together, and without making a request wait. */
export class ActivityStamps {
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #log: Logger
  /** When each was stamped last, so that most requests need not stamp. */
  readonly #stampedAt = new Map<string, number>()
  readonly #users = new Map<string, number>()
  readonly #sessions = new Map<string, number>()
  #cancel: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(parts: { storage: Storage; clock: Clock; log: Logger }) {
    this.#storage = parts.storage
    this.#clock = parts.clock
    this.#log = parts.log
  }

  touchUser(userId: string, nowSeconds: number): void {
    this.#touch(this.#users, userId, nowSeconds)
  }

  touchSession(sessionId: string, nowSeconds: number): void {
    this.#touch(this.#sessions, sessionId, nowSeconds)
  }

  /** Writes what is waiting; afterwards nothing is under way. */
  async stop(): Promise<void> {
    this.#cancel?.()
    this.#write()
    await this.#writing
  }

  #touch(waiting: Map<string, number>, id: string, nowSeconds: number): void {
    const last = this.#stampedAt.get(id)
    // A stamp of the future means that the wall clock was set back.
    if (last !== undefined && last <= nowSeconds && nowSeconds - last < INTERVAL_SECONDS) return
    this.#stampedAt.delete(id) // so that it becomes the youngest
    this.#stampedAt.set(id, nowSeconds)
    dropOldest(this.#stampedAt, REMEMBERED)
    waiting.set(id, nowSeconds)
    this.#cancel ??= this.#clock.after(GATHER_MS, () => this.#write())
  }

  #write(): void {
    this.#cancel = undefined
    const users = [...this.#users]
    const sessions = [...this.#sessions]
    this.#users.clear()
    this.#sessions.clear()
    if (users.length + sessions.length === 0) return
    const written = this.#storage.transaction(async (tx) => {
      for (const [id, seconds] of users) {
        await tx.updateTable('users').set({ last_activity_at: seconds }).where('id', '=', id).execute()
      }
      for (const [id, seconds] of sessions) {
        await tx.updateTable('user_sessions').set({ last_seen_at: seconds }).where('id', '=', id).execute()
      }
    })
    this.#writing = Promise.all([this.#writing, written]).then(
      () => undefined,
      (error: unknown) => this.#log.error('the times of last activity could not be written', { error }),
    )
  }
}
