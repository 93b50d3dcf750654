import {
  FALSE_WORDS,
  parseAuthority,
  parseBoolean,
  parseEmail,
  parseFloatAboveZero,
  parseHost,
  parseInteger,
  parsePath,
  parseSize,
  parseUrl,
  rangeText,
  scalarText,
  sizeText,
} from './formats.ts'
import { InvalidValue } from './invalid-value.ts'
import { defineRow, type ParseContext, type Row, type RowSpec } from './row.ts'
import { MASK, Secret } from './secret.ts'

export function integer<D extends number | undefined = undefined>(
  spec: RowSpec<D> & { readonly min?: number; readonly max?: number },
): Row<number | D> {
  return defineRow(spec, {
    type: `integer${rangeText(spec)}`,
    parse: (raw) => parseInteger(raw, spec),
    print: String,
  })
}

export function port<D extends number | undefined = undefined>(spec: RowSpec<D>): Row<number | D> {
  return integer({ ...spec, min: 1, max: 65535 })
}

/** A number above 0. A value below `floor` is raised to it. */
export function float<D extends number | undefined = undefined>(
  spec: RowSpec<D> & { readonly max?: number; readonly floor?: number },
): Row<number | D> {
  const { max, floor } = spec
  const bounds = `${max === undefined ? '' : `, at most ${max}`}${floor === undefined ? '' : `, raised to ${floor}`}`
  return defineRow(spec, {
    type: `number above 0${bounds}`,
    parse: (raw) => Math.max(parseFloatAboveZero(raw, max), floor ?? 0),
    print: String,
  })
}

export function percent<D extends number | undefined = undefined>(spec: RowSpec<D>): Row<number | D> {
  return float({ ...spec, max: 100 })
}

export function boolean<D extends boolean | undefined = undefined>(spec: RowSpec<D>): Row<boolean | D> {
  return defineRow(spec, { type: 'boolean', references: false, parse: parseBoolean, print: String })
}

/** On by any value that is not a false word: for a `DISABLE_…` switch a mistyped value must not mean "allowed". */
export function flag<D extends boolean | undefined = undefined>(spec: RowSpec<D>): Row<boolean | D> {
  return defineRow(spec, {
    type: `on by any value but ${FALSE_WORDS.join(', ')}`,
    references: false,
    parse: (raw) => !FALSE_WORDS.includes(scalarText(raw).trim().toLowerCase()),
    print: String,
  })
}

/** One of a few words, in any case. */
export function choice<const V extends string, D extends V | undefined = undefined>(
  spec: RowSpec<D> & { readonly values: readonly V[] },
): Row<V | D> {
  const words = spec.values.join(', ')
  return defineRow(spec, {
    type: `one of ${words}`,
    parse: (raw) => {
      const word = scalarText(raw).trim().toLowerCase()
      const found = spec.values.find((value) => value.toLowerCase() === word)
      if (found === undefined) throw new InvalidValue(`must be one of ${words}`)
      return found
    },
    print: String,
  })
}

/** Bytes, written like `8g`. */
export function size<D extends number | undefined = undefined>(spec: RowSpec<D>): Row<number | D> {
  return defineRow(spec, { type: 'size', parse: parseSize, print: sizeText })
}

/** A string of one format. The other text builders are this one with a parser chosen. */
export function text<D extends string | undefined = undefined>(
  spec: RowSpec<D> & { readonly type?: string; readonly parse?: (text: string, context: ParseContext) => string },
): Row<string | D> {
  const { type = 'text', parse = (value: string) => value } = spec
  return defineRow(spec, {
    type,
    parse: (raw, context) => parse(scalarText(raw), context),
    print: (value) => value || 'empty',
  })
}

export function host<D extends string | undefined = undefined>(spec: RowSpec<D>): Row<string | D> {
  return text({ ...spec, type: 'IP address or host name', parse: parseHost })
}

export function authority<D extends string | undefined = undefined>(spec: RowSpec<D>): Row<string | D> {
  return text({ ...spec, type: 'host name or IP address, optional :port', parse: parseAuthority })
}

export function email<D extends string | undefined = undefined>(spec: RowSpec<D>): Row<string | D> {
  return text({ ...spec, type: 'email address', parse: parseEmail })
}

export function path<D extends string | undefined = undefined>(spec: RowSpec<D>): Row<string | D> {
  return text({ ...spec, type: 'path', parse: (value, { home }) => parsePath(value, home) })
}

/** A path without which the server cannot start. */
export function requiredPath(spec: RowSpec<undefined>): Row<string> {
  const row = path<string>({ env: spec.env, reload: spec.reload, doc: spec.doc, unset: 'required' })
  return { ...row, required: true }
}

export function url<D extends string | undefined = undefined>(
  spec: RowSpec<D> & { readonly secureUnlessLoopback?: boolean },
): Row<string | D> {
  const { secureUnlessLoopback = false } = spec
  return text({
    ...spec,
    type: secureUnlessLoopback ? 'URL, https unless loopback' : 'URL, http or https',
    parse: (value) => parseUrl(value, { secureUnlessLoopback }),
  })
}

type ListSpec<T extends string> = RowSpec<readonly NoInfer<T>[]> & {
  readonly of: string
  readonly item: (text: string, context: ParseContext) => T
}

/** Comma-separated text, or a YAML list. Entries are trimmed; empty ones are dropped. */
export function list<T extends string>(spec: ListSpec<T> & { readonly default: readonly T[] }): Row<readonly T[]>
export function list<T extends string>(spec: ListSpec<T>): Row<readonly T[] | undefined>
export function list<T extends string>(spec: ListSpec<T>): Row<readonly T[] | undefined> {
  return defineRow<readonly T[], readonly T[]>(spec, {
    type: `list of ${spec.of}`,
    parse: (raw, context) => splitList(raw).map((entry, index) => parseEntry(index, () => spec.item(entry, context))),
    print: (entries) => {
      if (entries === spec.default && spec.unset !== undefined) return spec.unset
      return entries.length === 0 ? 'empty list' : entries.join(',')
    },
  })
}

export function splitList(raw: unknown): readonly string[] {
  const parts = Array.isArray(raw) ? raw.map(scalarText) : scalarText(raw).split(',')
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

function parseEntry<T>(index: number, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new InvalidValue(...error.reasons.map((reason) => `has an entry (number ${index + 1}) that ${reason}`))
  }
}

/** Text that is never shown. YAML numbers are refused: `0123` would silently become `123`. */
export function secret(
  spec: RowSpec<undefined> & { readonly type?: string; readonly parse?: (text: string) => string },
): Row<Secret | undefined> {
  return asSecret(text(spec))
}

export function asSecret(row: Row<string | undefined>): Row<Secret | undefined> {
  return {
    ...row,
    secret: true,
    defaultValue: () => undefined,
    parse: async (raw, context) => {
      if (typeof raw !== 'string') throw new InvalidValue('must be text: put it in quotes')
      const value = await row.parse(raw, context)
      return value === undefined ? undefined : new Secret(value)
    },
    print: (value) => (value === undefined ? 'unset' : MASK),
  }
}

/** An empty value switches the setting off instead of giving the default. */
export function emptyMeans<T>(meaning: string, row: Row<T>): Row<T | undefined> {
  return { ...row, emptyMeans: meaning, type: `${row.type}, or empty for ${meaning}` }
}

/** A structured setting that only the configuration file can hold. */
export function fileOnly<T>(row: Row<T>): Row<T> {
  return { ...row, env: undefined, name: row.yaml ?? row.name }
}
