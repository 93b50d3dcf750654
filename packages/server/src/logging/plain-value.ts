import type { Scrub } from './log-record.ts'

/** Longest text kept of one value. */
const MAX_VALUE_CHARS = 8 * 1024
/** Entries visited in one field, so that logging a whole registry by mistake costs a line, not the heap. */
const MAX_ENTRIES = 500
const MAX_DEPTH = 8

/** Fields written of one record. Ours have a dozen at most. */
export const MAX_FIELDS = 64
/** Name and value that stand for the fields beyond. */
export const CUT_FIELDS = ['…', `[cut, more than ${MAX_FIELDS} fields]`] as const

/**
 * Cuts a long text and says so. Scrubs twice the length first: a secret lying across the cut
 * would otherwise lose the end by which it is recognised, and its beginning would be written.
 */
export function shorten(text: string, scrub: Scrub): string {
  if (text.length <= MAX_VALUE_CHARS) return text
  const kept = scrub(text.slice(0, 2 * MAX_VALUE_CHARS)).slice(0, MAX_VALUE_CHARS)
  return `${kept}… [cut, ${text.length} characters]`
}

/** A copy that JSON can write: no cycles, no BigInt, nothing that throws. `undefined` stays, to be left out. */
export function plainValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return shorten(value, scrub)
  if (Number.isFinite(value)) return value
  return plainTree(value, scrub)
}

function plainTree(value: unknown, scrub: Scrub): unknown {
  let entriesLeft = MAX_ENTRIES
  let charsLeft = 4 * MAX_VALUE_CHARS
  const ancestors: unknown[] = []

  const text = (raw: string): string => {
    const kept = charsLeft > 0 ? shorten(raw, scrub) : '[cut]'
    charsLeft -= kept.length
    return kept
  }

  const visit = (current: unknown): unknown => {
    switch (typeof current) {
      case 'string':
        return text(current)
      case 'number':
        return Number.isFinite(current) ? current : String(current)
      case 'boolean':
      case 'undefined':
        return current
      case 'object':
        return current === null ? null : visitObject(current)
      default:
        return text(String(current)) // bigint, symbol, function
    }
  }

  const visitObject = (current: object): unknown => {
    if (ancestors.includes(current)) return '[circular]'
    if (ancestors.length >= MAX_DEPTH) return '[too deep]'
    ancestors.push(current)
    try {
      return expand(current)
    } catch {
      return '[unreadable]' // a getter, toJSON or proxy that throws
    } finally {
      ancestors.pop()
    }
  }

  const expand = (current: object): unknown => {
    if (current instanceof Error) return text(`${current.name}: ${current.message}`)
    if (current instanceof Date) return Number.isNaN(current.getTime()) ? 'Invalid Date' : current.toISOString()
    if (ArrayBuffer.isView(current)) return `[${current.byteLength} bytes]`
    if ('toJSON' in current && typeof current.toJSON === 'function') return visit(current.toJSON())
    if (current instanceof Map) return visitEntries([...current].map(([key, entry]) => [String(key), () => entry]))
    if (current instanceof Set) return visitList([...current])
    if (Array.isArray(current)) return visitList(current)
    return visitEntries(Object.keys(current).map((key) => [key, () => Reflect.get(current, key)]))
  }

  const visitList = (list: readonly unknown[]): unknown[] => {
    const kept: unknown[] = []
    for (const entry of list) {
      if (entriesLeft-- <= 0) return [...kept, `[cut, ${list.length} entries]`]
      kept.push(visit(entry))
    }
    return kept
  }

  const visitEntries = (entries: readonly (readonly [string, () => unknown])[]): unknown => {
    // Pairs, not assignment: a key named `__proto__` is data here.
    const kept: [string, unknown][] = []
    for (const [key, read] of entries) {
      if (entriesLeft-- <= 0) {
        kept.push(['…', `[cut, ${entries.length} entries]`])
        break
      }
      kept.push([text(key), visitGuarded(read)])
    }
    return Object.fromEntries(kept)
  }

  /** One bad getter hides one property, not the whole object. */
  const visitGuarded = (read: () => unknown): unknown => {
    try {
      return visit(read())
    } catch {
      return '[unreadable]'
    }
  }

  return visitGuarded(() => value)
}
