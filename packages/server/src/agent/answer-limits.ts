import type { AgentMessage, FileEntry, TerminalInfo } from '@svc/protocol/agent/requests'

/** What the schema of an answer leaves open and no honest agent says. */

const MAX_EXIT_CODE = 255
const MAX_SIGNAL_LENGTH = 20
/** Far beyond any screen. */
const MAX_SIZE = 10_000
const MAX_TERMINAL_ID_LENGTH = 200
const MAX_LABEL_LENGTH = 1024
export const MAX_TITLE_LENGTH = 1024
/** As everywhere on Linux. */
const MAX_NAME_LENGTH = 255
/** Entries of a directory, or terminals, in one message. */
const MAX_LIST_LENGTH = 512
/** The last moment that a `Date` can hold. */
const MAX_EPOCH_SECONDS = 8.64e12

export interface Exit {
  readonly code: number
  readonly signal: string | null
}

/** Whether a message holds a list so long that merely to look at its parts, and find each wrong, would take seconds. */
export function isOverlong(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false
  return Object.values(message).some((value) => Array.isArray(value) && value.length > MAX_LIST_LENGTH)
}

export function isExit({ code, signal }: Exit): boolean {
  return code >= 0 && code <= MAX_EXIT_CODE && (signal === null || signal.length <= MAX_SIGNAL_LENGTH)
}

export function isSize({ cols, rows }: { readonly cols: number; readonly rows: number }): boolean {
  return cols >= 1 && rows >= 1 && cols <= MAX_SIZE && rows <= MAX_SIZE
}

export function isPosition(at: Pick<Extract<AgentMessage, { type: 'resync' }>, 'offset' | 'snapshot_bytes'>): boolean {
  return at.offset >= 0 && at.snapshot_bytes >= 0
}

export function isTerminal(terminal: TerminalInfo): boolean {
  const { id, label, offset } = terminal
  const isShort = id.length <= MAX_TERMINAL_ID_LENGTH && label.length <= MAX_LABEL_LENGTH
  return isShort && isSize(terminal) && offset >= 0
}

/** A file of any name, the root's included, which has none. */
export function isFile({ name, size, mtime, ctime }: FileEntry): boolean {
  const hasTimes = Math.abs(mtime) <= MAX_EPOCH_SECONDS && Math.abs(ctime) <= MAX_EPOCH_SECONDS
  return hasTimes && Number.isSafeInteger(size) && size >= 0 && name.length <= MAX_NAME_LENGTH
}

/** Clients make paths of such names on other machines, so none may lead out of its directory. */
export function isListed(entry: FileEntry): boolean {
  const { name } = entry
  return isFile(entry) && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
}
