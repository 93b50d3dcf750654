import { AppError } from '../../kernel/app-error.ts'

/** As the file systems have it. */
const MAX_PART_BYTES = 255
const MAX_NAME_BYTES = 4096

/** The parts of a member's name, once it is sure that they lead nowhere but down. None for the archive itself. */
export function safeParts(name: string): string[] {
  if (name === '') throw refused('a member without a name')
  if (name.includes('\0')) throw refused('a name with a NUL in it')
  if (name.startsWith('/')) throw refused('an absolute name', name)
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw refused('a name that is too long', name)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw refused('a name that leads out of it', name)
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES)) throw refused('a name that is too long', name)
  return parts
}

/** Where a link leads is for those inside to find out; only what no link can hold is refused. */
export function requireLinkTarget(target: string): void {
  if (target === '' || target.includes('\0')) throw refused('a link that leads nowhere')
  if (Buffer.byteLength(target) >= MAX_NAME_BYTES) throw refused('a link that is too long', target)
}

const SHOWN_CHARACTERS = 100

export function refused(what: string, name?: string): AppError {
  const shown = name === undefined ? '' : `: ${JSON.stringify(name.slice(0, SHOWN_CHARACTERS))}`
  return new AppError('archive_invalid', `The archive holds ${what}${shown}`)
}
