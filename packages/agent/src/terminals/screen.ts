import { reportFault } from '../report-fault.ts'
import { RequestError } from '../request-error.ts'
import type { Emulator } from './emulator.ts'
import type { OutputRing } from './output-ring.ts'
import { floodBytes } from './plain-flood.ts'
import { wholeBytes } from './whole-bytes.ts'

/** Lines kept above the screen. */
const SCROLLBACK_LINES = 10_000
/** Output that comes to rest for so long is looked at; while more comes, passing it on goes first. */
const REST_MS = 30
/** Output not looked at yet, from which on it no longer waits for rest, and until where. Below what the ring holds. */
const IMPATIENT_BYTES = 1536 * 1024
const RELIEF_BYTES = 1024 * 1024
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
  readonly #resizes: { readonly offset: number; readonly size: Size }[] = []
  readonly #waiting: { readonly offset: number; resolve(snapshot: Snapshot): void; reject(error: unknown): void }[] = []
  #emulator: Emulator | undefined
  #position = 0
  /** Where in the output to come to, however much more there is. */
  #wanted = 0
  #isReading = false
  #rest: NodeJS.Timeout | undefined

  constructor(parts: { ring: OutputRing; size: Size; titled(title: string): void; progressed(): void }) {
    this.#ring = parts.ring
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

  get #pending(): number {
    return this.#ring.end - this.#position
  }

  #waitForRest(): void {
    this.#rest ??= setTimeout(() => {
      this.#wanted = this.#ring.end
      this.#read()
    }, REST_MS).unref()
    this.#rest.refresh()
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
    for (;;) {
      this.#applyResizes(emulator)
      await this.#answer(emulator)
      // Somebody may have asked while the answer to others was made.
      const isAsked = this.#waiting.length > 0 || this.#position < this.#wanted
      if (!isAsked && this.#pending <= RELIEF_BYTES) return
      if (this.#pending > 0) await this.#readPiece(emulator)
      this.#progressed()
    }
  }

  async #readPiece(emulator: Emulator): Promise<void> {
    const until = this.#resizes[0]?.offset ?? this.#ring.end
    if (await this.#passOver(emulator, until)) return
    const piece = this.#ring.read(this.#position, Math.min(PIECE_BYTES, until - this.#position))
    await emulator.write(piece)
    this.#position += piece.length
  }

  async #requireEmulator(): Promise<Emulator> {
    // Loaded with the first output of the first terminal: neither the agent's start nor the shell's waits for it.
    const { Emulator } = await import('./emulator.ts')
    this.#emulator ??= new Emulator({ ...this.#firstSize, scrollbackLines: SCROLLBACK_LINES, titled: this.#titled })
    return this.#emulator
  }

  /** Leaves out what scrolls away unseen. A flood of plain lines is passed on several times faster so. */
  async #passOver(emulator: Emulator, until: number): Promise<boolean> {
    if (until - this.#position < RELIEF_BYTES / 2 || !emulator.isPlain) return false
    const size = floodBytes(this.#ring.copy(this.#position, until), SCROLLBACK_LINES + 2 * emulator.rows)
    if (size === 0) return false
    await emulator.write('\r\n')
    this.#position += size
    return true
  }

  #applyResizes(emulator: Emulator): void {
    for (;;) {
      const next = this.#resizes[0]
      if (!next || next.offset > this.#position) return
      this.#resizes.shift()
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
