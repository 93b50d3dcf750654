import { setImmediate as nextTurn } from 'node:timers/promises'
import { reportFault } from '../report-fault.ts'
import { RequestError } from '../request-error.ts'
import type { Emulator } from './emulator.ts'
import { coloursIn, Flood } from './flood.ts'
import type { OutputRing } from './output-ring.ts'
import { wholeBytes } from './whole-bytes.ts'

/** What is kept, and from when on it is passed over what cannot be kept. Tests have smaller ones. */
export interface ScreenLimits {
  /** Lines above the screen. */
  readonly scrollbackLines: number
  /** Less is looked at as quickly as it is passed over. */
  readonly floodBytes: number
  /** A place where output can be taken up again is looked for once in so many bytes. */
  readonly placeBytes: number
}
const LIMITS: ScreenLimits = { scrollbackLines: 10_000, floodBytes: 128 * 1024, placeBytes: 16 * 1024 }
/** Output that comes to rest for so long is looked at; while more comes, passing it on goes first. */
const REST_MS = 30
/** A flood that is held up on a busy machine is none the less a flood: it has to rest for so many times that. */
const FLOOD_RESTS = 10
/** Output not looked at yet, from which on it no longer waits for rest, and until where. Below what the ring holds. */
export const IMPATIENT_BYTES = 1664 * 1024
const RELIEF_BYTES = 1024 * 1024
/** Read along in one go: less than a millisecond's worth. */
const READ_ALONG_BYTES = 128 * 1024
const LINE_END = Buffer.from('\r\n')
/** Looked at in one go: a few milliseconds' worth. */
const PIECE_BYTES = 64 * 1024

interface Size {
  readonly cols: number
  readonly rows: number
}

export interface Snapshot extends Size {
  /** Position in the output that it shows. */
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * What a terminal shows. Reads the ring as a viewer does, at its own pace: when the output rests, when there is much of
 * it, and when somebody asks.
 */
export class Screen {
  readonly #ring: OutputRing
  readonly #titled: (title: string) => void
  readonly #progressed: () => void
  readonly #firstSize: Size
  readonly #limits: ScreenLimits
  readonly #resizes: { readonly offset: number; readonly size: Size }[] = []
  readonly #waiting: { readonly offset: number; resolve(snapshot: Snapshot): void; reject(error: unknown): void }[] = []
  #emulator: Emulator | undefined
  #flood: Flood | undefined
  #position = 0
  /** Where in the output to come to, however much more there is. */
  #wanted = 0
  #isReading = false
  #rest: NodeJS.Timeout | undefined
  #rests = 0

  constructor(parts: {
    ring: OutputRing
    size: Size
    titled(title: string): void
    progressed(): void
    limits?: ScreenLimits
  }) {
    this.#ring = parts.ring
    this.#limits = parts.limits ?? LIMITS
    this.#firstSize = parts.size
    this.#titled = parts.titled
    this.#progressed = parts.progressed
  }

  /** Everything before it is no longer needed. */
  get position(): number {
    return this.#position
  }

  /** There is more output in the ring. */
  grew(): void {
    if (this.#isReading) return
    if (this.#pending > IMPATIENT_BYTES) this.#read()
    else this.#waitForRest()
  }

  /** From here in the output on, the terminal has another size. */
  resize(size: Size): void {
    const offset = this.#ring.end
    // Nothing was written in the size before.
    if (this.#resizes.at(-1)?.offset === offset) this.#resizes.pop()
    this.#resizes.push({ offset, size })
    this.grew()
  }

  /** What is shown when all output up to now has taken effect, or a little later. */
  snapshot(): Promise<Snapshot> {
    return new Promise((resolve, reject) => {
      this.#wanted = this.#ring.end
      this.#waiting.push({ offset: this.#ring.end, resolve, reject })
      this.#read()
    })
  }

  /** Output up to here is of the size that the terminal has now. */
  get #until(): number {
    return this.#resizes[0]?.offset ?? this.#ring.end
  }

  get #pending(): number {
    return this.#ring.end - this.#position
  }

  #waitForRest(): void {
    this.#rests = 0
    this.#rest ??= setTimeout(() => this.#rested(), REST_MS).unref()
    this.#rest.refresh()
  }

  #rested(): void {
    this.#rests++
    if (this.#pending > this.#limits.floodBytes && this.#rests < FLOOD_RESTS) {
      this.#rest?.refresh()
      return
    }
    this.#wanted = this.#ring.end
    this.#read()
  }

  #read(): void {
    if (!this.#isReading) void this.#readOn()
  }

  async #readOn(): Promise<void> {
    this.#isReading = true
    try {
      await this.#catchUp(await this.#requireEmulator())
      if (this.#pending > 0) this.#waitForRest()
    } catch (cause) {
      reportFault(cause)
      const error = new RequestError('failed', 'The screen of this terminal cannot be shown', { cause })
      for (const { reject } of this.#waiting.splice(0)) reject(error)
    } finally {
      this.#isReading = false
    }
  }

  async #catchUp(emulator: Emulator): Promise<void> {
    for (let relief = RELIEF_BYTES; ; ) {
      this.#applyResizes(emulator)
      await this.#answer(emulator)
      // Somebody may have asked while the answer to others was made.
      const isAsked = this.#waiting.length > 0 || this.#position < this.#wanted
      if (!isAsked && this.#pending <= relief) return
      const hasPassedOver = await this.#passOver(emulator)
      if (!hasPassedOver) await this.#readPiece(emulator)
      // What is left of a flood may scroll away as well.
      relief = hasPassedOver ? IMPATIENT_BYTES : RELIEF_BYTES
      this.#progressed()
    }
  }

  async #readPiece(emulator: Emulator): Promise<void> {
    const piece = this.#ring.read(this.#position, Math.min(PIECE_BYTES, this.#until - this.#position))
    if (piece.length === 0) return
    await emulator.write(piece)
    this.#position += piece.length
  }

  async #requireEmulator(): Promise<Emulator> {
    // Loaded with the first output of the first terminal: neither the agent's start nor the shell's waits for it.
    const { Emulator } = await import('./emulator.ts')
    const { scrollbackLines } = this.#limits
    this.#emulator ??= new Emulator({ ...this.#firstSize, scrollbackLines, titled: this.#titled })
    return this.#emulator
  }

  /** Leaves out what scrolls away unseen. A flood is passed on several times faster so. */
  async #passOver(emulator: Emulator): Promise<boolean> {
    // A sequence that is under way has to be ended first.
    if (this.#until - this.#position < this.#limits.floodBytes || !emulator.isAtRest) return false
    const flood = this.#requireFlood(emulator)
    if (!flood) return false
    await this.#readAlong(flood)
    const cut = flood.cut(this.#position, this.#limits.scrollbackLines + 2 * emulator.rows)
    if (!cut) return false
    const colours = coloursIn(this.#ring.copy(Math.max(this.#position, cut.coloursFrom), cut.at))
    // As bytes, like all output: a character that was cut off must not go on after it.
    await emulator.write(Buffer.concat([colours, LINE_END]))
    this.#position = cut.at
    return true
  }

  #requireFlood(emulator: Emulator): Flood | undefined {
    const flood = this.#flood
    const isOfUse = flood && (flood.position > this.#position || (flood.position === this.#position && !flood.isOver))
    if (isOfUse) return flood
    const { placeBytes } = this.#limits
    const from = this.#position
    this.#flood = emulator.isPlain ? new Flood({ from, cols: emulator.wrapColumn, placeBytes }) : undefined
    return this.#flood
  }

  async #readAlong(flood: Flood): Promise<void> {
    while (!flood.isOver && flood.position < this.#until) {
      const pause = Math.min(this.#until, flood.position + READ_ALONG_BYTES)
      while (!flood.isOver && flood.position < pause) {
        flood.read(this.#ring.read(flood.position, pause - flood.position))
      }
      await nextTurn()
    }
  }

  #applyResizes(emulator: Emulator): void {
    for (;;) {
      const next = this.#resizes[0]
      if (!next || next.offset > this.#position) return
      this.#resizes.shift()
      this.#flood = undefined
      emulator.resize(next.size.cols, next.size.rows)
    }
  }

  async #answer(emulator: Emulator): Promise<void> {
    const ready = this.#waiting.filter(({ offset }) => offset <= this.#position)
    if (ready.length === 0) return
    const { cols, rows } = emulator
    const bytes = await emulator.snapshot()
    const snapshot = { offset: this.#lastWhole(emulator), bytes, cols, rows }
    this.#waiting.splice(0, ready.length)
    for (const { resolve } of ready) resolve(snapshot)
  }

  /**
   * Where the output goes on after a snapshot. A sequence or a character of which only the beginning came is in no
   * snapshot, so it has to come again, whole.
   */
  #lastWhole(emulator: Emulator): number {
    const from = emulator.isAtRest ? Math.max(this.#ring.start, this.#position - 3) : this.#ring.start
    const seen = this.#ring.copy(from, this.#position)
    return from + wholeBytes(seen, { isAtRest: emulator.isAtRest })
  }
}
