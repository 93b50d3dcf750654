import type { ReferenceReader } from './references.ts'

/**
 * When a changed value takes effect: `live` at the next reload, `restart` at the next start,
 * `seed` only while the first data is written.
 */
export type Reload = 'live' | 'restart' | 'seed'

/** What a parser may need beside the value. */
export interface ParseContext {
  /** What `~` stands for. */
  readonly home: string
  /** Where relative paths inside a structured value start. */
  readonly baseDir: string
  readonly readReference: ReferenceReader
  warn(text: string): void
}

/** What some defaults are made from. */
export interface Places {
  readonly configDir: string
  readonly stateDir: string
  readonly osUser: string
}

/** One setting. The loader, the start-up error, the reload and the printed reference all read this. */
export interface Row<T> {
  /** The variable, or the YAML key of a setting without one. Unique. */
  readonly name: string
  readonly env: string | undefined
  /** Key in the configuration file, snake_case, a dot for each level; undefined when only the environment counts. */
  readonly yaml: string | undefined
  readonly yamlAliases: readonly string[]
  /** Type and bounds in words. */
  readonly type: string
  readonly reload: Reload
  readonly secret: boolean
  readonly required: boolean
  /** Whether a `file:` or `cmd:` value is looked up. */
  readonly references: boolean
  /** What an empty value stands for, where that differs from not being set. */
  readonly emptyMeans: string | undefined
  /** One sentence for an operator. */
  readonly doc: string
  readonly defaultText: string
  defaultValue(places: Places): T | undefined
  /** Throws `InvalidValue`. */
  parse(raw: unknown, context: ParseContext): T | Promise<T>
  print(value: T): string
}

/** The settings object that a table of rows describes. */
export type Values<Rows> = { readonly [Key in keyof Rows]: Rows[Key] extends Row<infer T> ? T : never }

/** What every builder takes. `D` is the type of the default: `undefined` when there is none. */
export interface RowSpec<D> {
  readonly env: `SVCD_${string}`
  readonly reload: Reload
  readonly doc: string
  readonly default?: D
  /** A default made from other facts, and the words for it. */
  readonly defaultFrom?: { readonly text: string; readonly value: (places: Places) => D }
  /** Words for what happens when nothing is set, where a plain "unset" would not tell. */
  readonly unset?: string
  readonly yamlAliases?: readonly string[]
  readonly environmentOnly?: boolean
}

/** What a builder adds: how one kind of value is read and shown. */
export interface Kind<T> {
  readonly type: string
  readonly references?: boolean
  readonly secret?: boolean
  readonly parse: (raw: unknown, context: ParseContext) => T | Promise<T>
  readonly print: (value: T) => string
}

export function defineRow<T, D extends T | undefined>(spec: RowSpec<D>, kind: Kind<T>): Row<T | D> {
  const { default: constant, defaultFrom } = spec
  const keys = spec.environmentOnly ? [] : yamlKeysOf(spec.env)
  return {
    name: spec.env,
    env: spec.env,
    yaml: keys[0],
    yamlAliases: [...keys.slice(1), ...(spec.yamlAliases ?? [])],
    type: kind.type,
    reload: spec.reload,
    secret: kind.secret ?? false,
    required: false,
    references: kind.references ?? true,
    emptyMeans: undefined,
    doc: spec.doc,
    defaultText: defaultFrom?.text ?? spec.unset ?? (constant === undefined ? 'unset' : kind.print(constant)),
    defaultValue: (places) => defaultFrom?.value(places) ?? constant,
    parse: kind.parse,
    print: (value) => (value === undefined ? 'unset' : kind.print(value)),
  }
}

/** `SVCD_NIX_SEED__TYPE` is `nix_seed.type` in the file, and `nix_seed__type` as well. */
function yamlKeysOf(env: string): readonly string[] {
  const flat = env.replace(/^SVCD_/, '').toLowerCase()
  return flat.includes('__') ? [flat.replaceAll('__', '.'), flat] : [flat]
}
