import { isRecord, scalarText } from './formats.ts'
import { InvalidValue, reasonsOf } from './invalid-value.ts'
import { isReference } from './references.ts'
import type { ParseContext } from './row.ts'
import { Secret } from './secret.ts'

/** Reads the fields of one structured value and collects what is wrong with any of them. */
export class FieldReader {
  readonly reasons: string[] = []
  readonly #record: Record<string, unknown>
  readonly #label: string
  readonly #known = new Set<string>()

  /** `label` names the value in a reason: `provider 2`. */
  constructor(raw: unknown, label: string) {
    if (!isRecord(raw)) throw new InvalidValue(`in ${label}: must be a map of fields`)
    this.#record = raw
    this.#label = label
  }

  /** The parsed field, or undefined when it is absent or wrong. `name` is kebab-case; snake_case is the second try. */
  async read<T>(name: string, parse: (raw: unknown) => T | Promise<T>): Promise<T | undefined> {
    const spellings = [name, name.replaceAll('-', '_')]
    for (const spelling of spellings) this.#known.add(spelling)
    const raw = spellings.map((spelling) => this.#record[spelling]).find((value) => value !== undefined)
    if (raw === undefined || raw === null || raw === '') return undefined
    try {
      return await parse(raw)
    } catch (error) {
      this.reasons.push(...reasonsOf(error).map((reason) => `in ${this.#label}: ${name} ${reason}`))
      return undefined
    }
  }

  async require<T>(name: string, parse: (raw: unknown) => T | Promise<T>): Promise<T | undefined> {
    const before = this.reasons.length
    const value = await this.read(name, parse)
    if (value === undefined && this.reasons.length === before)
      this.reasons.push(`in ${this.#label}: ${name} is missing`)
    return value
  }

  /** Names no field of this value has; most likely mistyped. */
  unknownFields(): readonly string[] {
    return Object.keys(this.#record).filter((name) => !this.#known.has(name))
  }
}

/** Text, or what a `file:` or `cmd:` reference in its place leads to. */
export async function textOrReference(raw: unknown, context: ParseContext): Promise<string> {
  const text = scalarText(raw)
  return isReference(text) ? context.readReference(text) : text
}

/** The same for a secret. A YAML number is refused: `0123` would silently become `123`. */
export async function secretOrReference(raw: unknown, context: ParseContext): Promise<Secret> {
  if (typeof raw !== 'string') throw new InvalidValue('must be text: put it in quotes')
  return new Secret(await textOrReference(raw, context))
}

/** Parses every entry, so that one correction round shows the faults of all of them. */
export async function parseEntries<T>(
  entries: readonly unknown[],
  parse: (entry: unknown, number: number) => Promise<T>,
): Promise<readonly T[]> {
  const settled = await Promise.allSettled(entries.map(async (entry, index) => parse(entry, index + 1)))
  const failures = settled.filter((result) => result.status === 'rejected')
  const reasons = failures.flatMap((failure) => reasonsOf(failure.reason))
  if (reasons.length > 0) throw new InvalidValue(...reasons)
  return settled.filter((result) => result.status === 'fulfilled').map((result) => result.value)
}
