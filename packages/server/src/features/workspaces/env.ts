import { AppError } from '../../kernel/app-error.ts'

type Env = Readonly<Record<string, string>>

/** What an environment can carry: a name ends at the first `=`, and everything ends at a NUL. */
const NAME = /^[^=\s\p{C}]+$/u

/** Names by which a container knows its server, and those that change which programs run. */
const NOT_FROM_ELSEWHERE = /^(?:SVCD_|SVCWS_|SVCNET_|SVC_)|^(?:PATH|LD_PRELOAD|LD_LIBRARY_PATH)$/

/** Without a variable there is nothing to keep. */
export function readEnv(env: Env | null): Env | null {
  const entries = Object.entries(env ?? {})
  for (const [name, value] of entries) {
    if (!NAME.test(name)) throw new AppError('bad_request', `Invalid environment variable name '${printable(name)}'`)
    if (value.includes('\0')) throw new AppError('bad_request', `The value of '${name}' must not hold a NUL character`)
  }
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** What may be taken over from an archive, which somebody else may have written. Whatever does not fit is left out. */
export function sanitizeImportedEnv(raw: unknown): Env | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const kept = Object.entries(raw).filter(
    (entry): entry is [string, string] =>
      NAME.test(entry[0]) &&
      !NOT_FROM_ELSEWHERE.test(entry[0]) &&
      typeof entry[1] === 'string' &&
      !entry[1].includes('\0'),
  )
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD').slice(0, 100)
