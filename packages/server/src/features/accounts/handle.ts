import { systemAgent } from '@svc/protocol/system-agent'
import { AppError } from '../../kernel/app-error.ts'

export const MAX_HANDLE_LENGTH = 32

/** `-99999`: no installation has more people of one name. */
export const LONGEST_SUFFIX = 6

/** Names that mean something else below `/home`. */
const RESERVED: ReadonlySet<string> = new Set([systemAgent.handle, 'work', '.users'])

/** A handle somebody chose, or a refusal that says what is wrong with it. Whether it is taken is another question. */
export function requireHandle(text: string): string {
  const refuse = (sentence: string) => new AppError('bad_request', sentence)
  const handle = text.trim()
  if (handle === '') throw refuse('Handle cannot be empty')
  if (handle.length > MAX_HANDLE_LENGTH) throw refuse(`Handle must be ${MAX_HANDLE_LENGTH} characters or fewer`)
  if (RESERVED.has(handle)) throw refuse(`'${handle}' is reserved`)
  if (handle.startsWith('.')) throw refuse('Handle cannot start with a dot')
  if (!/^[a-z0-9._-]+$/.test(handle)) {
    throw refuse('Handle may hold only lowercase letters, digits, dots, hyphens and underscores')
  }
  return handle
}

/** The handle a new account gets: made from its address, and numbered when it is taken. */
export function freeHandle(email: string, isTaken: (handle: string) => boolean): string {
  const base = handleFor(email)
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`
    const handle = `${base.slice(0, MAX_HANDLE_LENGTH - suffix.length)}${suffix}`
    if (!RESERVED.has(handle) && !isTaken(handle)) return handle
  }
}

/** What a handle made from this address begins with. */
export function handleFor(email: string): string {
  const local = email.slice(0, email.lastIndexOf('@'))
  const letters = local
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, '')
    .replace(/^\.+/, '')
  return letters.slice(0, MAX_HANDLE_LENGTH) || 'user'
}
