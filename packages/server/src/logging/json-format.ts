import { errorText } from './error-text.ts'
import { escapeUnsafe } from './escape.ts'
import type { LineFormat, LogRecord, Scrub } from './log-record.ts'
import { CUT_FIELDS, MAX_FIELDS, plainValue, shorten } from './plain-value.ts'

/** Keys with a fixed meaning. A field of that name is written as `field_<name>`, so that it cannot pose as ours. */
const FIXED_KEYS = new Set(['timestamp', 'level', 'logger', 'message', 'exc_info', 'host', 'instance'])

/**
 * One object per line. The pairs are joined by hand and not by building an object first:
 * half the cost, the order of the keys is ours, and a field named `__proto__` or `0` is nothing special.
 */
export function jsonFormat(origin: { host: string; instance: string }, scrub: Scrub): LineFormat {
  const originPairs = `,"host":${JSON.stringify(origin.host)},"instance":${JSON.stringify(origin.instance)}`

  const pairs = (record: LogRecord): string => {
    const { fields } = record
    const message = JSON.stringify(shorten(record.message, scrub))
    let line = `{"timestamp":"${record.timestamp}","level":"${record.level}","logger":${JSON.stringify(record.logger)},"message":${message}`
    if (fields.error !== undefined) line += `,"exc_info":${JSON.stringify(errorText(fields.error, scrub))}`
    line += originPairs
    let count = 0
    for (const key in fields) {
      if (key === 'error') continue
      if (++count > MAX_FIELDS) return `${line},"${CUT_FIELDS[0]}":"${CUT_FIELDS[1]}"}`
      const value = JSON.stringify(plainValue(fields[key], scrub))
      if (value === undefined) continue
      line += `,${JSON.stringify(FIXED_KEYS.has(key) ? `field_${key}` : shorten(key, scrub))}:${value}`
    }
    return `${line}}`
  }

  return (record) => {
    const line = escapeUnsafe(pairs(record))
    const clean = scrub(line)
    if (clean === line || isJson(clean)) return `${clean}\n`
    // A secret made of digits was also part of a bare number: keep the record, as text inside the message.
    const { timestamp, level, logger } = record
    return `${scrub(JSON.stringify({ timestamp, level, logger, message: clean }))}\n`
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
