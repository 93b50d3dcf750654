import type { Problem } from './config-error.ts'
import type { ConfigFile } from './config-file.ts'
import type { Environment } from './environment.ts'
import { reasonsOf } from './invalid-value.ts'
import { isReference } from './references.ts'
import type { ParseContext } from './row.ts'
import type { AnyRow } from './settings.ts'

/** What became of one setting. `value` is undefined when the default applies or the value was refused. */
export interface Reading {
  readonly row: AnyRow
  readonly source: 'environment' | 'file' | 'default'
  readonly byReference: boolean
  readonly value: unknown
  readonly problems: readonly Problem[]
}

export interface RowSources {
  readonly env: Environment
  readonly file?: Pick<ConfigFile, 'values'>
}

/** Finds, resolves and parses one setting. */
export async function readRow(row: AnyRow, sources: RowSources, context: ParseContext): Promise<Reading> {
  const found = findRaw(row, sources)
  if (!found) return { row, source: 'default', byReference: false, value: undefined, problems: [] }
  const { source, key, raw } = found
  const reference = typeof raw === 'string' && isReference(raw) ? raw : undefined
  const base = { row, source, byReference: row.references && reference !== undefined }
  try {
    if (isBlank(raw)) return { ...base, value: undefined, problems: [] }
    const plain = row.references && reference !== undefined ? await context.readReference(reference) : raw
    return { ...base, value: await row.parse(plain, context), problems: [] }
  } catch (error) {
    const shown = row.secret || reference !== undefined ? '' : echo(raw)
    const problems = reasonsOf(error).map((reason) => ({
      setting: row.name,
      ...(key === undefined ? {} : { yamlKey: key }),
      message: `${reason}${shown}`,
    }))
    return { ...base, value: undefined, problems }
  }
}

/** The strongest source that gives a value. Empty counts as not given, unless the row says what it means. */
function findRaw(
  row: AnyRow,
  { env, file }: RowSources,
): { readonly source: 'environment' | 'file'; readonly key?: string; readonly raw: unknown } | undefined {
  const isGiven = (raw: unknown) => raw !== undefined && raw !== null && (!isBlank(raw) || row.emptyMeans !== undefined)
  const variable = row.env === undefined ? undefined : env[row.env]
  if (isGiven(variable)) return { source: 'environment', raw: variable }
  const inFile = file?.values.get(row)
  return inFile && isGiven(inFile.raw) ? { source: 'file', ...inFile } : undefined
}

function isBlank(raw: unknown): boolean {
  return typeof raw === 'string' && raw.trim() === ''
}

/** Enough to recognise one's own typing in a log line. */
const ECHO_LENGTH = 60

/** The refused value, in words. What stands before an @ may be a password, even where none is expected. */
function echo(raw: unknown): string {
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof raw)) return ''
  const text = String(raw).replace(/\S+@/g, '***@')
  return `; got ${JSON.stringify(text.length > ECHO_LENGTH ? `${text.slice(0, ECHO_LENGTH)}…` : text)}`
}
