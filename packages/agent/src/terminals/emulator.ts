import { setImmediate as nextTurn } from 'node:timers/promises'
import { SerializeAddon } from '@xterm/addon-serialize'
import headless, { type Terminal } from '@xterm/headless'

/** Made into bytes in one go: a few milliseconds' worth. */
const PIECE_LINES = 500

/** What the emulator knows but does not tell in public, and a copy of the screen needs. */
interface Internals {
  readonly isParserAtRest: boolean
  readonly scrollTop: number
  readonly scrollBottom: number
  readonly isCursorHidden: boolean
  readonly mouseEncoding: string
  readonly isInLink: boolean
}

/** A terminal emulator without a screen: knows what a person who had watched all along would see. */
export class Emulator {
  readonly #terminal: Terminal
  readonly #serializer: SerializeAddon

  constructor(options: { cols: number; rows: number; scrollbackLines: number; titled(title: string): void }) {
    const { cols, rows, scrollbackLines: scrollback } = options
    // Programs print anything; what makes no sense is not for our log.
    this.#terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' })
    this.#serializer = new SerializeAddon()
    this.#terminal.loadAddon(this.#serializer)
    this.#terminal.onTitleChange(options.titled)
  }

  get cols(): number {
    return this.#terminal.cols
  }

  get rows(): number {
    return this.#terminal.rows
  }

  /** Resolves when the bytes have taken effect. They must not change until then. */
  write(bytes: Uint8Array | string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve))
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows)
  }

  /** Not inside a sequence. */
  get isAtRest(): boolean {
    return this.#internals().isParserAtRest
  }

  /**
   * Lines that scroll by leave no trace but themselves: not inside a sequence, a part of the screen, or a link, and no
   * line goes up again.
   */
  get isPlain(): boolean {
    const { isParserAtRest, scrollTop, scrollBottom, isInLink } = this.#internals()
    const isWhole = scrollTop === 0 && scrollBottom === this.#terminal.rows - 1
    const isUsual = this.#terminal.buffer.active.type === 'normal' && !this.#terminal.modes.reverseWraparoundMode
    return isParserAtRest && isWhole && isUsual && !isInLink
  }

  /** Where a line goes on in the next one; infinite when it does not. */
  get wrapColumn(): number {
    return this.#terminal.modes.wraparoundMode ? this.cols : Infinity
  }

  /**
   * Bytes that make an empty terminal of the same size look and behave like this one. Made in pieces, so that others get
   * their turn: nothing may be written meanwhile.
   */
  async snapshot(): Promise<Buffer> {
    const pieces: string[] = []
    let from = 0
    for (let to = this.#pieceEnd(from); to !== undefined; to = this.#pieceEnd(from)) {
      const range = { start: from, end: to - 1 }
      pieces.push(this.#serializer.serialize({ range, excludeModes: true, excludeAltBuffer: true }), '\x1b[0m\r\n')
      from = to
      await nextTurn()
    }
    pieces.push(
      this.#serializer.serialize({ scrollback: this.#scrolledLines - from }),
      this.#whatSerializingLeavesOut(),
    )
    return Buffer.from(pieces.join(''))
  }

  get #scrolledLines(): number {
    return this.#terminal.buffer.normal.length - this.#terminal.rows
  }

  /** Where a piece of the scrollback that begins at a line ends: before a line of its own, not the rest of a long one. */
  #pieceEnd(from: number): number | undefined {
    for (let end = from + PIECE_LINES; end < this.#scrolledLines; end++) {
      if (this.#terminal.buffer.normal.getLine(end)?.isWrapped === false) return end
    }
    return undefined
  }

  #whatSerializingLeavesOut(): string {
    const { scrollTop, scrollBottom, isCursorHidden, mouseEncoding } = this.#internals()
    const { cursorX, cursorY } = this.#terminal.buffer.active
    const parts: string[] = []
    if (scrollTop !== 0 || scrollBottom !== this.#terminal.rows - 1) {
      // Setting the margins moves the cursor. With the origin at the margin its place counts from there.
      const row = cursorY + 1 - (this.#terminal.modes.originMode ? scrollTop : 0)
      parts.push(`\x1b[${scrollTop + 1};${scrollBottom + 1}r\x1b[${row};${cursorX + 1}H`)
    }
    if (isCursorHidden) parts.push('\x1b[?25l')
    if (mouseEncoding === 'SGR') parts.push('\x1b[?1006h')
    if (mouseEncoding === 'SGR_PIXELS') parts.push('\x1b[?1016h')
    return parts.join('')
  }

  #internals(): Internals {
    const core: unknown = Reflect.get(this.#terminal, '_core')
    const at = (...path: string[]): unknown =>
      path.reduce<unknown>((value, name) => (isObject(value) ? Reflect.get(value, name) : undefined), core)
    return {
      isParserAtRest: at('_inputHandler', '_parser', 'currentState') === 0,
      scrollTop: asNumber(at('_bufferService', 'buffer', 'scrollTop'), 0),
      scrollBottom: asNumber(at('_bufferService', 'buffer', 'scrollBottom'), this.#terminal.rows - 1),
      isCursorHidden: at('coreService', 'isCursorHidden') === true,
      mouseEncoding: String(at('coreMouseService', 'activeEncoding')),
      isInLink: asNumber(at('_inputHandler', '_curAttrData', 'extended', 'urlId'), 0) !== 0,
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function asNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
