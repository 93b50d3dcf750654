import { WorkspaceName } from '@svc/protocol/workspaces'
import { AppError } from '../../kernel/app-error.ts'

const LONGEST = 255

/** For names that did not come through a route, whose schema says the same. */
export function requireName(text: string): string {
  const read = WorkspaceName.safeParse(text)
  if (read.success) return read.data
  throw new AppError('bad_request', `The name ${read.error.issues[0]?.message ?? 'is not valid'}`)
}

export const nameTaken = (name: string) => new AppError('conflict', `A workspace named '${name}' already exists`)

/** `<name>-copy`, `<name>-copy-2` and so on: the first that is free. */
export function copyName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '-copy' : `-copy-${number}`
    const copy = `${beginningOf(name, LONGEST - suffix.length)}${suffix}`
    if (!taken.has(copy)) return copy
  }
}

/** Never cut within a character. */
function beginningOf(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}
