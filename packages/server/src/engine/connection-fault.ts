import { errorCode } from '../kernel/error-code.ts'

/** Nobody listens on the socket, so the call was certainly not heard. */
export function isNotUp(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(String(errorCode(error)))
}

/** The connection ended before the answer came: the call may have been heard. */
export function wasCut(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(String(errorCode(error)))
}

export function isForbidden(error: unknown): boolean {
  return errorCode(error) === 'EACCES'
}
