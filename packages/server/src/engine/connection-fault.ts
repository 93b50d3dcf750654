function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

/** Nobody listens on the socket, so the call was certainly not heard. */
export function isNotUp(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(String(codeOf(error)))
}

/** The connection ended before the answer came: the call may have been heard. */
export function wasCut(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(String(codeOf(error)))
}

export function isForbidden(error: unknown): boolean {
  return codeOf(error) === 'EACCES'
}
