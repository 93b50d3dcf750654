export interface Size {
  readonly cols: number
  readonly rows: number
}

/** What somebody may do with the terminal that is shown to them. */
export type TerminalAccess = 'own' | 'read-write' | 'read-only'

/** What one viewer of a terminal would like it to be. */
export interface SizeWish {
  readonly access: TerminalAccess
  readonly size: Size
  /** Grows with each start, resize or key; the highest was the latest. */
  readonly usedAt: number
}

/** Of a client that has not said anything yet. */
export const FIRST_SIZE: Size = { cols: 80, rows: 24 }
/** As much as a terminal can have. */
const MAX_EXTENT = 1000

/** The size of a client after it said something; what is no size changes nothing. */
export const sizeFrom = (known: Size, said: { cols?: number | undefined; rows?: number | undefined }): Size => ({
  cols: extentFrom(known.cols, said.cols),
  rows: extentFrom(known.rows, said.rows),
})

/**
 * The size of a terminal that several watch: of the owner's viewer that was used last; while none of theirs shows it,
 * the smallest of those who may type; undefined when nobody has a say, and it stays as it is.
 */
export function sizeFor(wishes: readonly SizeWish[]): Size | undefined {
  const own = wishes.filter(({ access }) => access === 'own')
  const latest = own.toSorted((one, other) => other.usedAt - one.usedAt)[0]
  if (latest) return latest.size
  const writing = wishes.filter(({ access }) => access === 'read-write').map(({ size }) => size)
  if (writing.length === 0) return undefined
  return { cols: Math.min(...writing.map(({ cols }) => cols)), rows: Math.min(...writing.map(({ rows }) => rows)) }
}

const extentFrom = (known: number, said: number | undefined): number =>
  said === undefined || said < 1 ? known : Math.min(said, MAX_EXTENT)
