import type { Readable } from 'node:stream'
import type { Channel } from '@svc/protocol/agent/channels'

/** After the command ended, this long nothing may come: a child of it that lives on may keep the pipes open for ever. */
const QUIET_MS = 1000
/** And no more than this, far above what a pipe can hold, from a child of it that goes on writing. */
const MAX_LATE_BYTES = 4 * 1024 * 1024

/** Moves what a command writes to its channel, no faster than the channel takes it. */
export class OutputPump {
  readonly #streams: readonly Readable[]
  readonly #done: Promise<unknown>
  #hasExited = false
  #lateBytes = 0
  /** Pieces that wait for the channel: a reader who is slow is not quiet. */
  #waiting = 0
  #quiet: NodeJS.Timeout | undefined

  constructor(channel: Channel, outputs: readonly (readonly [Readable, 'data' | 'errorData'])[]) {
    this.#streams = outputs.map(([stream]) => stream)
    this.#done = Promise.all(outputs.map(([stream, kind]) => this.#pump(stream, channel, kind)))
  }

  /** The command has ended: resolves when its last byte went out. */
  async finish(): Promise<void> {
    this.#hasExited = true
    this.#watchForQuiet()
    await this.#done
    this.#stopWatching()
  }

  async #pump(stream: Readable, channel: Channel, kind: 'data' | 'errorData'): Promise<void> {
    try {
      for await (const chunk of stream) {
        this.#stopWatching()
        this.#waiting++
        await channel.write(chunk, kind)
        this.#waiting--
        if (this.#hasExited) this.#tookLate(chunk.length)
      }
    } catch {
      // Torn down by us, or the pipe broke: either way there is no more output.
    }
  }

  #tookLate(bytes: number): void {
    this.#lateBytes += bytes
    if (this.#lateBytes > MAX_LATE_BYTES) this.#stop()
    else this.#watchForQuiet()
  }

  #watchForQuiet(): void {
    this.#stopWatching()
    if (this.#waiting > 0) return
    // On a busy machine the time may be over while output waits to be read: that comes first.
    const timer = setTimeout(() => setImmediate(() => this.#quiet === timer && this.#stop()), QUIET_MS)
    this.#quiet = timer
  }

  #stopWatching(): void {
    clearTimeout(this.#quiet)
    this.#quiet = undefined
  }

  #stop(): void {
    for (const stream of this.#streams) stream.destroy()
  }
}
