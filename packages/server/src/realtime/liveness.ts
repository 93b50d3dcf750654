import type { Clock } from '../kernel/clock.ts'

/** How often a client is asked whether it is there, and how long it has for an answer. */
const PING_EVERY_MS = 20_000
const ANSWER_MS = 20_000

interface LivenessParts {
  readonly clock: Clock
  /** `sent` is called when the network has it. While it has not, the client is slow, and not lost. */
  ping(sent: () => void): void
  /** All bytes that ever came. Anything is an answer: in the middle of a long message a client cannot give another. */
  bytesRead(): number
  /** Whether we ourselves read nothing at present: then silence says nothing about the client. */
  isPaused(): boolean
  /** Whether something waits to be sent: then the question is on its way behind it, and the `Outbox` judges. */
  isSending(): boolean
  lost(): void
}

/** Notices clients that went away without a word. */
export class Liveness {
  readonly #parts: LivenessParts
  #cancel: () => void
  #isStopped = false

  constructor(parts: LivenessParts) {
    this.#parts = parts
    this.#cancel = this.#askLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #askLater(): () => void {
    return this.#parts.clock.after(PING_EVERY_MS, () => this.#ask())
  }

  #ask(): void {
    const { clock, ping, bytesRead, isPaused } = this.#parts
    if (isPaused()) {
      this.#cancel = this.#askLater()
      return
    }
    const readBefore = bytesRead()
    ping(() => {
      if (this.#isStopped) return
      // The answer may be here and not read yet, when we were busy ourselves: whatever is here is read first.
      this.#cancel = clock.after(ANSWER_MS, () => setImmediate(() => this.#judge(readBefore)))
    })
  }

  #judge(readBefore: number): void {
    const { bytesRead, isPaused, isSending, lost } = this.#parts
    if (this.#isStopped) return
    if (bytesRead() === readBefore && !isPaused() && !isSending()) lost()
    else this.#cancel = this.#askLater()
  }
}
