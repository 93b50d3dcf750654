const ESCAPE = 0x1b
const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
/** Begins the encoded form of the control characters from U+0080 to U+009F. */
const HIGH_CONTROL_LEAD = 0xc2

/**
 * How much of the output at the beginning need not be looked at, because so many plain lines follow that none of it
 * would be left in the scrollback. Such text changes nothing but the lines themselves, so leaving it out is exact. Zero
 * when there is nothing to gain. The answer is just after the end of a line.
 */
export function floodBytes(bytes: Buffer, linesThatStay: number): number {
  const plain = bytes.subarray(0, plainBytes(bytes))
  let at = plain.length
  for (let line = 0; line <= linesThatStay; line++) {
    at = plain.lastIndexOf(LINE_FEED, at - 1)
    if (at <= 0) return 0
  }
  return plain[at - 1] === CARRIAGE_RETURN ? at + 1 : 0
}

/** Length of the text at the beginning that holds no control sequence and changes no character set. */
function plainBytes(bytes: Buffer): number {
  return Math.min(
    ...[ESCAPE, SHIFT_OUT, SHIFT_IN].map((control) => positionOr(bytes.indexOf(control), bytes.length)),
    highControl(bytes),
  )
}

function highControl(bytes: Buffer): number {
  for (let at = bytes.indexOf(HIGH_CONTROL_LEAD); at !== -1; at = bytes.indexOf(HIGH_CONTROL_LEAD, at + 1)) {
    if ((bytes[at + 1] ?? 0) < 0xa0) return at
  }
  return bytes.length
}

function positionOr(position: number, otherwise: number): number {
  return position === -1 ? otherwise : position
}
