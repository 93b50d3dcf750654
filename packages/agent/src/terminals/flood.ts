const BACKSPACE = 0x08
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const ESCAPE = 0x1b
const SPACE = 0x20
const DIGIT_ZERO = 0x30
const SEMICOLON = 0x3b
const ERASE_IN_LINE = 0x4b
const LEFT_BRACKET = 0x5b
const COLOURS = 0x6d
const TILDE = 0x7e
/** Begins the encoded form of the control characters from U+0080 to U+009F. */
const HIGH_CONTROL_LEAD = 0xc2

/** Colours of no more than so much output are gone through at once: a few milliseconds' worth. */
const STEP_BYTES = 256 * 1024
/** Left of every column: of the cursor no more is known than its line. */
const SOMEWHERE = -1e9

/** What the next byte belongs to. */
type State = 'text' | 'escape' | 'zeros' | 'zero, then numbers' | 'numbers' | 'high control'

/** The beginning of a line. */
export interface Place {
  readonly at: number
  /** How often the cursor had gone down a line, at the least. */
  readonly lines: number
  /** Colours that were set before here have no effect in that line. */
  readonly coloursFrom: number
}

/**
 * Reads along in output, and finds how much of it need not be looked at because so many lines follow that none of it will
 * be left in the scrollback. That is exact for text and what stays within its line: no trace of it is left but the colours
 * in force. Everything else ends the flood. Each byte is read once and not kept.
 */
export class Flood {
  readonly #cols: number
  readonly #placeBytes: number
  readonly #places: Place[] = []
  #position: number
  #isOver = false
  #state: State = 'text'
  #lines = 0
  /** Never right of the cursor, so that wrapped lines are counted with it and never too many. */
  #column = SOMEWHERE
  #isAfterReturn = false
  #sequenceFrom = 0
  /** From the first that was set since the last reset on. */
  #coloursFrom = Infinity
  #nextPlace: number

  /**
   * `from`: a position at which no sequence is under way. `cols`: where lines wrap, infinite when they do not. A place is
   * noted once in `placeBytes`.
   */
  constructor({ from, cols, placeBytes }: { from: number; cols: number; placeBytes: number }) {
    this.#position = from
    this.#nextPlace = from
    this.#cols = cols
    this.#placeBytes = placeBytes
  }

  /** How far the output was read. When it is over, just after what ended it. */
  get position(): number {
    return this.#position
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The output goes on with these bytes. */
  read(bytes: Uint8Array): void {
    const first = this.#position
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      at = this.#state === 'text' ? this.#readText(bytes, at) : this.#readSequence(bytes, at)
      this.#position = first + at
    }
  }

  /**
   * The latest place that so many lines follow, as far as it can be passed over to from `from` at once. Places up to it
   * are forgotten.
   */
  cut(from: number, linesThatStay: number): Place | undefined {
    let cut: Place | undefined
    for (;;) {
      const next = this.#places[0]
      if (!next || this.#lines - next.lines < linesThatStay) return cut
      const isLong = next.at - Math.max(from, next.coloursFrom) > STEP_BYTES
      if (isLong && cut) return cut
      this.#places.shift()
      if (next.at > from) cut = next
    }
  }

  /** Reads lines; answers where something else begins. */
  #readText(bytes: Uint8Array, from: number): number {
    for (let at = from; ; ) {
      const begin = at
      while (at < bytes.length && isPrinting(bytes[at] ?? 0)) at++
      if (at > begin) this.#print(at - begin)
      if (at === bytes.length) return at
      const byte = bytes[at++] ?? 0
      if (byte === CARRIAGE_RETURN) {
        this.#column = 0
        this.#isAfterReturn = true
      } else if (byte === LINE_FEED) this.#feedLine(this.#position + at - from)
      else if (byte === ESCAPE || byte === HIGH_CONTROL_LEAD) {
        this.#sequenceFrom = this.#position + at - 1 - from
        this.#isAfterReturn = false
        this.#state = byte === ESCAPE ? 'escape' : 'high control'
        return at
      } else if (this.#control(byte)) return at
    }
  }

  #print(characters: number): void {
    this.#isAfterReturn = false
    this.#column += characters
    if (this.#column <= this.#cols) return
    const wraps = Math.ceil(this.#column / this.#cols) - 1
    this.#lines += wraps
    this.#column -= wraps * this.#cols
  }

  #feedLine(end: number): void {
    this.#lines++
    // There is a mode in which it returns too.
    if (this.#column > 0) this.#column = 0
    if (this.#isAfterReturn && end >= this.#nextPlace) {
      this.#places.push({ at: end, lines: this.#lines, coloursFrom: Math.min(this.#coloursFrom, end) })
      this.#nextPlace = end + this.#placeBytes
    }
    this.#isAfterReturn = false
  }

  /** Control characters, and parts of characters that may take any room. True when it ends the flood. */
  #control(byte: number): boolean {
    this.#isAfterReturn = false
    if (byte > SPACE) return false
    if (byte === SHIFT_OUT || byte === SHIFT_IN) this.#isOver = true
    else if (byte === BACKSPACE) this.#column = SOMEWHERE
    // Some of them are line feeds as well.
    else if (this.#column > 0) this.#column = 0
    return this.#isOver
  }

  /** Reads one sequence; answers where it ends. */
  #readSequence(bytes: Uint8Array, from: number): number {
    let at = from
    if (this.#state === 'high control') {
      this.#state = 'text'
      const byte = bytes[at] ?? 0
      this.#isOver = byte >= 0x80 && byte < 0xa0
      // Anything else may begin something itself.
      return this.#isOver ? at + 1 : at
    }
    if (this.#state === 'escape') {
      if (bytes[at++] !== LEFT_BRACKET) this.#isOver = true
      this.#state = 'zeros'
    }
    for (; at < bytes.length && isNumber(bytes[at] ?? 0); at++) {
      if (this.#state !== 'zeros' || bytes[at] === DIGIT_ZERO) continue
      this.#state = bytes[at] === SEMICOLON ? 'zero, then numbers' : 'numbers'
    }
    if (at === bytes.length || this.#isOver) return at
    this.#endSequence(bytes[at] ?? 0)
    return at + 1
  }

  #endSequence(byte: number): void {
    if (byte === COLOURS) {
      // When the first number is zero, all is as if nothing had been set before.
      const isReset = this.#state !== 'numbers'
      if (isReset || this.#coloursFrom === Infinity) this.#coloursFrom = this.#sequenceFrom
    } else if (byte !== ERASE_IN_LINE) this.#isOver = true
    this.#state = 'text'
  }
}

/** The colours that are set in a part of a flood, without the text. */
export function coloursIn(bytes: Buffer): Buffer {
  const colours = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = bytes.indexOf(ESCAPE); at !== -1; at = bytes.indexOf(ESCAPE, at)) {
    const begin = at
    at += 2
    while (isNumber(bytes[at] ?? 0)) at++
    if (bytes[at] !== COLOURS) continue
    at++
    length += bytes.copy(colours, length, begin, at)
  }
  return colours.subarray(0, length)
}

function isPrinting(byte: number): boolean {
  return byte >= SPACE && byte <= TILDE
}

function isNumber(byte: number): boolean {
  return byte >= DIGIT_ZERO && byte <= SEMICOLON
}
