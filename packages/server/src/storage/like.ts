import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Rows whose column contains `text`, whatever the case of its ASCII letters. `%` and `_` stand for themselves. */
export const contains = (column: string, text: string): RawBuilder<SqlBool> => like(column, `%${literally(text)}%`)

/** Rows whose column begins with `text`. */
export const startsWith = (column: string, text: string): RawBuilder<SqlBool> => like(column, `${literally(text)}%`)

const like = (column: string, pattern: string): RawBuilder<SqlBool> =>
  sql<SqlBool>`lower(${sql.ref(column)}) like ${asciiLower(pattern)} escape '\\'`

const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** As SQLite's `lower` does it. */
const asciiLower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
