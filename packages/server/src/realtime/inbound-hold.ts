/** Above this nothing more is read from the client; below half of it reading goes on. */
const HELD_BYTES = 1024 * 1024

/** Counts what a client sent and somebody has not dealt with yet. */
export class InboundHold {
  readonly #pause: () => void
  readonly #resume: () => void
  #heldBytes = 0
  #isPaused = false

  constructor(parts: { pause: () => void; resume: () => void }) {
    this.#pause = parts.pause
    this.#resume = parts.resume
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** The answer takes them off again, once. */
  hold(bytes: number): () => void {
    this.#heldBytes += bytes
    if (this.#heldBytes > HELD_BYTES && !this.#isPaused) {
      this.#isPaused = true
      this.#pause()
    }
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#heldBytes -= bytes
      if (this.#isPaused && this.#heldBytes < HELD_BYTES / 2) {
        this.#isPaused = false
        this.#resume()
      }
    }
  }
}
