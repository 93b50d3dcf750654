import type { Clock } from '../../kernel/clock.ts'

/** What comes within this time after a message was sent goes into one more. Nobody can see the difference. */
const GAP_MS = 8
/** And is sent earlier once there is so much of it. */
const FULL_BYTES = 32 * 1024
/** A piece of this size is a message of its own: putting pieces together would only cost a copy. */
const LARGE_BYTES = 16 * 1024

/**
 * Makes few messages of many small pieces of output. What comes after silence is passed on at once, so that the echo of a
 * key does not wait.
 */
export class OutputBatch {
  readonly #clock: Clock
  readonly #deliver: (bytes: Uint8Array) => void
  #pieces: Uint8Array[] = []
  #size = 0
  /** There while the gap after a message lasts. */
  #cancelGap: (() => void) | undefined

  constructor(parts: { clock: Clock; deliver(bytes: Uint8Array): void }) {
    this.#clock = parts.clock
    this.#deliver = parts.deliver
  }

  push(bytes: Uint8Array): void {
    const isLarge = bytes.length >= LARGE_BYTES
    if (isLarge) this.#send()
    this.#pieces.push(bytes)
    this.#size += bytes.length
    if (isLarge || !this.#cancelGap || this.#size >= FULL_BYTES) this.#sendAndWait()
  }

  /** Passes on what waits, because something else follows it. */
  flush(): void {
    this.#send()
  }

  /** Somebody typed: what comes next is probably the echo, and does not wait for the end of a gap. */
  expectEcho(): void {
    this.#send()
    this.#cancelGap?.()
    this.#cancelGap = undefined
  }

  /** Nothing more is passed on. */
  drop(): void {
    this.#cancelGap?.()
    this.#cancelGap = undefined
    this.#pieces = []
    this.#size = 0
  }

  #sendAndWait(): void {
    this.#send()
    this.#cancelGap?.()
    this.#cancelGap = this.#clock.after(GAP_MS, () => {
      this.#cancelGap = undefined
      if (this.#size > 0) this.#sendAndWait()
    })
  }

  #send(): void {
    const pieces = this.#pieces
    const [first] = pieces
    if (!first) return
    this.#pieces = []
    this.#size = 0
    this.#deliver(pieces.length === 1 ? first : Buffer.concat(pieces))
  }
}
