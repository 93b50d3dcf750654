/** SQLite's extended codes for a duplicate in a unique index, a primary key and a rowid. */
const SQLITE_DUPLICATES: readonly unknown[] = [2067, 1555, 2579]
const POSTGRES_DUPLICATE = '23505'

/** Whether a statement failed because the same value is already there, whichever database said so. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return SQLITE_DUPLICATES.includes(error.errcode)
  return 'code' in error && error.code === POSTGRES_DUPLICATE
}
