import { AppError } from '../../kernel/app-error.ts'

/** What Linux takes: a path with the NUL behind it, and a single name. */
const MAX_PATH_BYTES = 4095
const MAX_NAME_BYTES = 255

/**
 * A path in a workspace without `.`, `..` and double slashes. Links play no part here: `/a/link/..` is `/a`, as it is in
 * the address bar of a file browser.
 */
export function containerPath(text: string): string {
  if (!text.startsWith('/') || text.includes('\0') || !text.isWellFormed()) throw invalidPath()
  const names: string[] = []
  for (const name of text.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  const path = `/${names.join('/')}`
  if (Buffer.byteLength(path) > MAX_PATH_BYTES || names.some(isTooLong)) throw invalidPath()
  return path
}

/** The path of something in a directory. */
export const pathIn = (directory: string, name: string): string =>
  directory === '/' ? `/${name}` : `${directory}/${name}`

/** The last name in a path; empty for the root. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const isTooLong = (name: string): boolean => Buffer.byteLength(name) > MAX_NAME_BYTES

const invalidPath = (): AppError => new AppError('bad_request', 'Invalid path')
