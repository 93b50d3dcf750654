import type { Channel } from '@svc/protocol/agent/channels'
import type { TerminalInfo } from '@svc/protocol/agent/requests'
import { endSessions } from './end-session.ts'
import { OutputRing, RING_BYTES } from './output-ring.ts'
import { Pty, type PtyOptions } from './pty.ts'
import { IMPATIENT_BYTES, Screen } from './screen.ts'
import { Viewer } from './viewer.ts'

/** A reader who is this far behind holds up the terminal: the next piece might push out what it still needs. */
const HOLD_BYTES = RING_BYTES - 128 * 1024
/** And lets it go again here: not at each piece, but before the screen is content with what it leaves of a flood. */
const RELEASE_BYTES = (HOLD_BYTES + IMPATIENT_BYTES) / 2

/** A flood comes in pieces of the size of a page. So much is gathered, or for so long, before it is passed on. */
const BATCH_BYTES = 32 * 1024
const GATHER_MS = 1
/** A piece after which more is likely to follow at once. */
const FLOOD_READ_BYTES = 2048

export interface Size {
  readonly cols: number
  readonly rows: number
}

export interface Exit {
  readonly code: number
  readonly signal: string | null
}

export interface TerminalOptions extends Size {
  readonly id: string
  /** Of the server; the agent only keeps it. */
  readonly label: string
  readonly program: Pick<PtyOptions, 'file' | 'args' | 'env' | 'cwd'>
  /** The shell has ended and all its output is in. */
  ended(): void
}

/** A shell, its output, its screen, and those who watch. Lives on its own, whether anybody watches or not. */
export class Terminal {
  readonly id: string
  label: string
  readonly #pty: Pty
  readonly #viewers = new Set<Viewer>()
  readonly #ring = new OutputRing(() => this.#usedFrom())
  readonly #screen: Screen
  readonly #ended: () => void
  #size: Size
  #title = ''
  #exit: Exit | undefined
  #isTellingSoon = false
  /** Read since the viewers were last told. */
  #untoldBytes = 0

  constructor({ id, label, program, cols, rows, ended }: TerminalOptions) {
    this.id = id
    this.label = label
    this.#size = { cols, rows }
    this.#ended = ended
    this.#screen = new Screen({
      ring: this.#ring,
      size: this.#size,
      titled: (title) => this.#titled(title),
      progressed: () => this.#balance(),
    })
    this.#pty = new Pty({
      ...program,
      cols,
      rows,
      data: (bytes) => this.#took(bytes),
      ended: (exit) => this.#finish(exit),
    })
  }

  get info(): TerminalInfo {
    const { id, label } = this
    return { id, pid: this.#pty.pid, ...this.#size, title: this.#title, offset: this.#ring.end, label }
  }

  /** Shows the terminal on a channel until either ends. */
  async attach(channel: Channel, options: { from: number | undefined; isLossy: boolean }): Promise<void> {
    const viewer = new Viewer({
      channel,
      ring: this.#ring,
      screen: this.#screen,
      isLossy: options.isLossy,
      moved: () => this.#balance(),
    })
    channel.handlers = {
      data: (bytes) => void this.#pty.write(bytes).then(() => channel.consumed(bytes.length)),
      message: (message) => this.#heard(message),
      closed: () => viewer.wake(),
    }
    this.#viewers.add(viewer)
    try {
      if (this.#title !== '') viewer.tell({ type: 'titled', title: this.#title })
      await viewer.show(options.from, this.#size)
    } finally {
      this.#viewers.delete(viewer)
      this.#balance()
    }
    if (this.#exit) channel.message({ type: 'exited', ...this.#exit })
  }

  /** Ends everything that runs in it, as closing a window does. */
  close(): void {
    endSessions([this.#pty.pid])
  }

  #took(bytes: Uint8Array): void {
    this.#ring.append(bytes)
    this.#screen.grew()
    this.#balance()
    this.#untoldBytes += bytes.length
    if (this.#untoldBytes >= BATCH_BYTES) this.#tellViewers()
    if (this.#isTellingSoon) return
    this.#isTellingSoon = true
    if (bytes.length < FLOOD_READ_BYTES) setImmediate(this.#tellNow)
    else setTimeout(this.#tellNow, GATHER_MS)
  }

  readonly #tellNow = (): void => {
    this.#isTellingSoon = false
    this.#tellViewers()
  }

  #tellViewers(): void {
    this.#untoldBytes = 0
    for (const viewer of this.#viewers) viewer.wake()
  }

  #usedFrom(): number {
    let first = Infinity
    for (const { usesFrom } of this.#viewers) first = Math.min(first, usesFrom)
    return first
  }

  /** Holds the shell back while the screen, or the fastest of those who must not miss anything, is too far behind. */
  #balance(): void {
    let fastest = -1
    for (const { isLossy, position } of this.#viewers) if (!isLossy && position > fastest) fastest = position
    const needed = fastest === -1 ? this.#screen.position : Math.min(this.#screen.position, fastest)
    const lag = this.#ring.end - needed
    if (lag > HOLD_BYTES) this.#pty.pause()
    else if (lag < RELEASE_BYTES) this.#pty.resume()
  }

  #heard(message: unknown): void {
    const size = sizeIn(message)
    if (!size || (size.cols === this.#size.cols && size.rows === this.#size.rows)) return
    this.#size = size
    this.#pty.resize(size.cols, size.rows)
    this.#screen.resize(size)
    for (const viewer of this.#viewers) viewer.tell({ type: 'resized', ...size })
  }

  #titled(title: string): void {
    this.#title = title.slice(0, MAX_TITLE)
    for (const viewer of this.#viewers) viewer.tell({ type: 'titled', title: this.#title })
  }

  #finish(exit: Exit): void {
    this.#exit = exit
    this.#ended()
    for (const viewer of this.#viewers) viewer.finish()
  }
}

/** Programs can set any title; nobody can read more than this. */
const MAX_TITLE = 256
export const MAX_COLS = 1000
export const MAX_ROWS = 1000

/** The size in a `resize` message; undefined when it is not one, or not one that a terminal can have. */
function sizeIn(message: unknown): Size | undefined {
  if (typeof message !== 'object' || message === null || Reflect.get(message, 'type') !== 'resize') return undefined
  const [cols, rows]: unknown[] = [Reflect.get(message, 'cols'), Reflect.get(message, 'rows')]
  return isExtent(cols, MAX_COLS) && isExtent(rows, MAX_ROWS) ? { cols, rows } : undefined
}

function isExtent(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max
}
