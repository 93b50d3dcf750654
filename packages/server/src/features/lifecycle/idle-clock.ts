import type { Clock } from '../../kernel/clock.ts'

/** The wait is cut to this, so that a changed default and a moved wall clock are noticed. */
const LONGEST_WAIT_MS = 60_000
/** When one that is due is looked at again, should it not have been stopped. */
const REPEAT_MS = 5_000

/** What is known of the activity in one running workspace. */
export interface IdleSubject {
  readonly workspaceId: string
  lastActivityMs(): number
  /** Asked each time, because the server's default may change. 0 means never. */
  timeoutSeconds(): number
}

/** Finds workspaces in which nothing has happened for too long. One timer serves them all. */
export class IdleClock {
  readonly #clock: Clock
  readonly #subjects: () => Iterable<IdleSubject>
  readonly #onIdle: (workspaceId: string) => void
  #cancel: (() => void) | undefined
  #ended = false

  /** `onIdle` may be called again for a workspace that is still there after a while. */
  constructor(parts: {
    clock: Clock
    subjects: () => Iterable<IdleSubject>
    onIdle: (workspaceId: string) => void
  }) {
    this.#clock = parts.clock
    this.#subjects = parts.subjects
    this.#onIdle = parts.onIdle
  }

  /** To be called when a subject is added or its timeout changes. Activity only moves the end further away. */
  look(): void {
    if (this.#ended) return
    const nowMs = this.#clock.nowMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const subject of this.#subjects()) {
      const dueMs = dueAt(subject)
      if (dueMs <= nowMs) this.#onIdle(subject.workspaceId)
      nextMs = Math.min(nextMs, dueMs <= nowMs ? nowMs + REPEAT_MS : dueMs, nowMs + LONGEST_WAIT_MS)
    }
    this.#cancel?.()
    this.#cancel =
      nextMs === Number.POSITIVE_INFINITY ? undefined : this.#clock.after(nextMs - nowMs, () => this.look())
  }

  end(): void {
    this.#ended = true
    this.#cancel?.()
  }
}

/** The moment from which a workspace counts as idle. */
export function dueAt(subject: IdleSubject): number {
  const seconds = subject.timeoutSeconds()
  return seconds === 0 ? Number.POSITIVE_INFINITY : subject.lastActivityMs() + seconds * 1000
}
