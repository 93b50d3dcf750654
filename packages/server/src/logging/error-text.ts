import type { Scrub } from './log-record.ts'
import { shorten } from './plain-value.ts'

/** Deeper chains repeat themselves; the first causes are the ones that explain. */
const MAX_CAUSES = 8
const UNREADABLE = '[unreadable]'

/** The stack of an error followed by those of its causes, one per line. Never throws. */
export function errorText(error: unknown, scrub: Scrub): string {
  const parts: string[] = []
  const seen = new Set<unknown>()
  const visit = (fault: unknown, heading: string): void => {
    if (seen.has(fault) || seen.size > MAX_CAUSES) return
    seen.add(fault)
    parts.push(heading + shorten(stackOf(fault), scrub))
    const cause = read(() => (fault instanceof Error ? fault.cause : undefined))
    if (cause !== undefined && cause !== UNREADABLE) visit(cause, 'Caused by: ')
    const members = read(() => (fault instanceof AggregateError ? [...fault.errors] : []))
    if (Array.isArray(members)) for (const member of members) visit(member, 'One of: ')
  }
  visit(error, '')
  // Scrubbed here as well as in the finished line: a secret of several lines no longer matches once indented.
  return scrub(parts.join('\n'))
}

function stackOf(fault: unknown): string {
  const text = read(() => (fault instanceof Error ? (fault.stack ?? `${fault.name}: ${fault.message}`) : fault))
  return String(read(() => String(text)))
}

/** Errors come from anywhere: a getter or `toString` of one may itself throw. */
function read(get: () => unknown): unknown {
  try {
    return get()
  } catch {
    return UNREADABLE
  }
}
