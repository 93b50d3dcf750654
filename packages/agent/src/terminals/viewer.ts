import type { Channel } from '@svc/protocol/agent/channels'
import { DATA_CHUNK_BYTES } from '@svc/protocol/agent/frames'
import type { AgentMessage } from '@svc/protocol/agent/requests'
import type { OutputRing } from './output-ring.ts'
import type { Screen } from './screen.ts'

/** A viewer that may miss output is brought up to date when it is this far behind; any other when it has to be. */
const MAX_LOSSY_LAG_BYTES = 512 * 1024

type News = Extract<AgentMessage, { type: 'resized' | 'titled' }>

export interface ViewerParts {
  readonly channel: Channel
  readonly ring: OutputRing
  readonly screen: Screen
  readonly isLossy: boolean
  /** Told whenever the viewer has moved on. */
  moved(): void
}

/** One channel that shows a terminal: it has a place of its own in the output. */
export class Viewer {
  readonly isLossy: boolean
  readonly #parts: ViewerParts
  /** What is told when the viewer has come to a place in the output. */
  readonly #news: { readonly offset: number; readonly message: News }[] = []
  #position = 0
  /** The channel still looks at the bytes from here on. */
  #sendingFrom = Infinity
  #isOver = false
  #wake: (() => void) | undefined

  constructor(parts: ViewerParts) {
    this.#parts = parts
    this.isLossy = parts.isLossy
  }

  /** Everything before it is no longer needed. */
  get position(): number {
    return this.#position
  }

  /** Bytes of the ring from here on are still looked at. */
  get usesFrom(): number {
    return this.#sendingFrom
  }

  /** There is more to do: output, news, or the end. */
  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  /**
   * Tells a message when the output up to now was sent: a size takes effect where it did in the terminal. News that are
   * out of date before they were told are left out, or they would pile up before a viewer that takes nothing.
   */
  tell(message: News): void {
    const offset = this.#parts.ring.end
    const stale = this.#news.findLastIndex(({ message: { type } }) => type === message.type)
    const isPlaceOfMatter = message.type === 'resized' && !this.#mayMiss
    if (stale !== -1 && (!isPlaceOfMatter || this.#news[stale]?.offset === offset)) this.#news.splice(stale, 1)
    this.#news.push({ offset, message })
    this.wake()
  }

  /** The output is complete. */
  finish(): void {
    this.#isOver = true
    this.wake()
  }

  /** Shows the terminal until it ends or the channel is closed. `from` is what the viewer has already. */
  async show(from: number | undefined, size: { cols: number; rows: number }): Promise<void> {
    const { channel, ring, screen } = this.#parts
    // Until the snapshot is there, nothing that will follow it may be lost.
    this.#position = ring.end
    if (from !== undefined && ring.holds(from)) {
      this.#position = from
      channel.message({ type: 'attached', ...size, offset: from, snapshot_bytes: 0 })
    } else {
      const { offset, bytes, cols, rows } = await screen.snapshot()
      this.#position = offset
      channel.message({ type: 'attached', cols, rows, offset, snapshot_bytes: bytes.length })
      await channel.write(bytes)
    }
    await this.#follow()
  }

  async #follow(): Promise<void> {
    const { channel, ring, moved } = this.#parts
    while (!channel.isClosed) {
      this.#tellNews()
      if (this.#isTooFarBehind) await this.#resync()
      else if (this.#position < ring.end) {
        const until = this.#news[0]?.offset ?? ring.end
        const bytes = ring.read(this.#position, Math.min(DATA_CHUNK_BYTES, until - this.#position))
        // The channel has them from here on: the ring may let go of them.
        this.#sendingFrom = this.#position
        this.#position += bytes.length
        moved()
        await channel.write(bytes)
        this.#sendingFrom = Infinity
      } else if (this.#isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  get #isTooFarBehind(): boolean {
    const { ring } = this.#parts
    return !ring.holds(this.#position) || (this.isLossy && ring.end - this.#position > MAX_LOSSY_LAG_BYTES)
  }

  /** Also one that is here for every byte, once it has lost some to a faster one. */
  get #mayMiss(): boolean {
    return this.isLossy || !this.#parts.ring.holds(this.#position)
  }

  async #resync(): Promise<void> {
    const { channel, screen, moved } = this.#parts
    const { offset, bytes } = await screen.snapshot()
    this.#position = offset
    moved()
    // The snapshot is of the size that the terminal has there.
    this.#tellNews()
    channel.message({ type: 'resync', offset, snapshot_bytes: bytes.length })
    await channel.write(bytes)
  }

  #tellNews(): void {
    for (;;) {
      const next = this.#news[0]
      if (!next || next.offset > this.#position) return
      this.#news.shift()
      this.#parts.channel.message(next.message)
    }
  }
}
