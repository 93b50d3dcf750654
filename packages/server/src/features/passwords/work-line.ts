/**
 * Lets a few pieces of work run at the same time; the rest wait in line. Work may carry a key, that of the client it is
 * done for: within a key it is first come, first served, and the keys take turns, so that who brings much work delays
 * themselves and not the others.
 */
export class WorkLine {
  readonly #atOnce: number
  readonly #maxWaiting: number
  readonly #maxWaitingPerKey: number
  readonly #refusal: () => Error
  /** Who waits under each key, and none without anybody; the key that is next in turn stands first. */
  readonly #queues = new Map<string | undefined, (() => void)[]>()
  #running = 0
  #waiting = 0

  /** `refusal` makes the error for who comes when all places to wait are taken: in the whole line, or under the key. */
  constructor(parts: { atOnce: number; maxWaiting: number; maxWaitingPerKey?: number; refusal: () => Error }) {
    this.#atOnce = parts.atOnce
    this.#maxWaiting = parts.maxWaiting
    this.#maxWaitingPerKey = parts.maxWaitingPerKey ?? parts.maxWaiting
    this.#refusal = parts.refusal
  }

  /** Nothing runs and nobody waits. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#queues.size === 0
  }

  /** Answers as `work` does. Failed work gives its place free like any other. All work without a key shares one. */
  async run<T>(work: () => Promise<T>, key?: string): Promise<T> {
    await this.#enter(key)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(key: string | undefined): Promise<void> {
    if (this.#running < this.#atOnce) {
      this.#running++
      return
    }
    const queue = this.#queues.get(key) ?? []
    if (this.#waiting >= this.#maxWaiting || queue.length >= this.#maxWaitingPerKey) throw this.#refusal()
    const { promise, resolve } = Promise.withResolvers<void>()
    queue.push(resolve)
    this.#queues.set(key, queue) // a new key goes to the end, a known one keeps its turn
    this.#waiting++
    await promise
  }

  #leave(): void {
    const next = this.#takeNext()
    // The place is handed on, not given back: a newcomer cannot slip in before the one called up.
    if (next) next()
    else this.#running--
  }

  /** The oldest of the key whose turn it is; the key goes to the end, or away with its last. */
  #takeNext(): (() => void) | undefined {
    const [first] = this.#queues
    if (!first) return undefined
    const [key, queue] = first
    const next = queue.shift()
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    this.#waiting--
    return next
  }
}
