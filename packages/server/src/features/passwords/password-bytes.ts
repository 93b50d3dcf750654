/** The longest password in bytes of UTF-8. Part of the contract: longer ones are refused when set and never match. */
const MAX_PASSWORD_BYTES = 72

export const TOO_MANY_BYTES = `Password must not exceed ${MAX_PASSWORD_BYTES} bytes`

export function hasTooManyBytes(password: string): boolean {
  return Buffer.byteLength(password, 'utf8') > MAX_PASSWORD_BYTES
}
