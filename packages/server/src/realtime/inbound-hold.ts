/** Above this nothing more is read from the client; below half of it reading goes on. */
const HELD_BYTES = 1024 * 1024
/** What a message costs while it waits, beside its bytes: a million single ones would take half a gigabyte. */
const MESSAGE_BYTES = 512

/** Counts what a client sent and somebody has not dealt with yet. */
export class InboundHold {
  readonly #changed: () => void
  #heldBytes = 0
  #isPaused = false

  /** `changed`: what `isPaused` says is another thing now. */
  constructor({ changed }: { changed: () => void }) {
    this.#changed = changed
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The answer takes them off again, once. */
  hold(bytes: number): () => void {
    const cost = bytes + MESSAGE_BYTES
    this.#heldBytes += cost
    if (this.#heldBytes > HELD_BYTES && !this.#isPaused) {
      this.#isPaused = true
      this.#changed()
    }
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#heldBytes -= cost
      if (this.#isPaused && this.#heldBytes < HELD_BYTES / 2) {
        this.#isPaused = false
        this.#changed()
      }
    }
  }
}
