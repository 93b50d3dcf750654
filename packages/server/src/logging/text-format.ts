import type { LogLevel } from '../kernel/logger.ts'
import { errorText } from './error-text.ts'
import { escapeUnsafe } from './escape.ts'
import type { LineFormat, Scrub } from './log-record.ts'
import { CUT_FIELDS, MAX_FIELDS, plainValue, shorten } from './plain-value.ts'

/** Padded to the longest name, so that the messages of neighbouring lines stand under each other. */
const LEVELS: Readonly<Record<LogLevel, string>> = {
  DEBUG: 'DEBUG   ',
  INFO: 'INFO    ',
  WARNING: 'WARNING ',
  ERROR: 'ERROR   ',
  CRITICAL: 'CRITICAL',
}
const COLOURS: Readonly<Record<LogLevel, string>> = {
  DEBUG: '\u001b[2m', // dim
  INFO: '\u001b[36m', // cyan
  WARNING: '\u001b[33m', // yellow
  ERROR: '\u001b[31m', // red
  CRITICAL: '\u001b[1;31m', // bold red
}
const RESET = '\u001b[0m'

/** Values that need no quotes to be told from what surrounds them. */
const BARE = /^[\w./:@%+,~-]+$/

/** For people: `time LEVEL logger message key=value`. An error follows indented, so it cannot pose as a record. */
export function textFormat(options: { coloured: boolean }, scrub: Scrub): LineFormat {
  return (record) => {
    const { fields } = record
    let body = `${record.logger} ${shorten(record.message, scrub)}`
    let count = 0
    for (const key in fields) {
      if (key === 'error') continue
      if (++count > MAX_FIELDS) {
        body += ` ${CUT_FIELDS[0]}="${CUT_FIELDS[1]}"`
        break
      }
      const value = printed(plainValue(fields[key], scrub))
      if (value !== undefined) body += ` ${quoted(shorten(key, scrub))}=${value}`
    }
    const level = options.coloured ? `${COLOURS[record.level]}${LEVELS[record.level]}${RESET}` : LEVELS[record.level]
    const trace = fields.error === undefined ? '' : indented(errorText(fields.error, scrub))
    return `${record.timestamp} ${level} ${scrub(escapeUnsafe(body) + trace)}\n`
  }
}

function printed(value: unknown): string | undefined {
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value)
}

function quoted(text: string): string {
  return BARE.test(text) ? text : JSON.stringify(text)
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `\n    ${escapeUnsafe(line)}`)
    .join('')
}
