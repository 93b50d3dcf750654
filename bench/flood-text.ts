const LINE = ' the quick brown fox jumps over the lazy dog'
const LINES = 1_850_000

/** About 100 MB of numbered lines. */
export const FLOOD_FILE = '/tmp/flood'

/** For a shell. */
export const MAKE_FLOOD = `seq -f '%09.0f${LINE}' ${LINES} > ${FLOOD_FILE}`

/** What a terminal shows of it. */
export function floodBytes(): Buffer {
  const lines = Array.from({ length: LINES }, (_, n) => `${String(n + 1).padStart(9, '0')}${LINE}\r\n`)
  return Buffer.from(lines.join(''))
}
