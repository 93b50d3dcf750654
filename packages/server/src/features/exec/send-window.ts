/** Bytes that may be on their way at once. */
export class SendWindow {
  readonly #maxBytes: number
  #bytes = 0
  #waiting: (() => void)[] = []

  constructor({ maxBytes }: { maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  /** Resolves when there is room, for one piece of whatever size. */
  async room(): Promise<void> {
    while (this.#bytes >= this.#maxBytes) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  /** The answer says that the bytes have arrived. */
  take(bytes: number): () => void {
    this.#bytes += bytes
    return () => {
      this.#bytes -= bytes
      for (const proceed of this.#waiting.splice(0)) proceed()
    }
  }
}
