const SCHEME = 'pbkdf2-sha512'
export const DIGEST_BYTES = 64
/** A stored count above this would let one damaged row keep a processor busy for minutes. */
export const MAX_ITERATIONS = 10_000_000

/** A password hash with all that is needed to make it again. */
export interface StoredHash {
  readonly iterations: number
  readonly salt: Buffer
  readonly digest: Buffer
}

/** `pbkdf2-sha512$<iterations>$<base64 salt>$<base64 digest>` */
export function formatStoredHash({ iterations, salt, digest }: StoredHash): string {
  return [SCHEME, iterations, salt.toString('base64'), digest.toString('base64')].join('$')
}

/** Undefined when the text is anything but what `formatStoredHash` writes. */
export function parseStoredHash(text: string): StoredHash | undefined {
  const [scheme, count = '', saltText = '', digestText = '', ...rest] = text.split('$', 5)
  if (scheme !== SCHEME || rest.length > 0 || !/^[1-9]\d{0,7}$/.test(count)) return undefined
  const iterations = Number(count)
  const salt = parseBase64(saltText)
  const digest = parseBase64(digestText)
  if (iterations > MAX_ITERATIONS || !salt?.length || digest?.length !== DIGEST_BYTES) return undefined
  return { iterations, salt, digest }
}

/** Node skips what is not base64; a damaged text must not pass for another hash. */
function parseBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
