const LINE = ' the quick brown fox jumps over the lazy dog'
const LINES = 1_850_000
const DIGITS = 9
const ZERO = 0x30

/** About 100 MB of numbered lines. */
export const FLOOD_FILE = '/tmp/flood'

/** For a shell. */
export const MAKE_FLOOD = `seq -f '%0${DIGITS}.0f${LINE}' ${LINES} > ${FLOOD_FILE}`

/** What a terminal shows of it. Written digit by digit: millions of texts would keep the collector busy for seconds. */
export function floodBytes(): Buffer {
  const line = Buffer.from(`${'0'.repeat(DIGITS)}${LINE}\r\n`)
  const all = Buffer.alloc(line.length * LINES, line)
  for (let n = 1; n <= LINES; n++) {
    let at = (n - 1) * line.length + DIGITS
    for (let rest = n; rest > 0; rest = Math.floor(rest / 10)) all[--at] = ZERO + (rest % 10)
  }
  return all
}
