import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Sorts behind every character, so that `>= text` and `< text + BEHIND_ALL` are those that begin with `text`. */
export const BEHIND_ALL = '\u{10FFFF}'

/** Rows whose column contains `text`, whatever the case of its ASCII letters. `%` and `_` stand for themselves. */
export const contains = (column: string, text: string): RawBuilder<SqlBool> => like(column, `%${literally(text)}%`)

const like = (column: string, pattern: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(${sql.ref(column)}) like ${asciiLower(pattern)} escape '\\'`

const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** As SQLite's `lower` does it. */
const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
