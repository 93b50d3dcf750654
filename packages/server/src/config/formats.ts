import { BlockList, isIP, isIPv4 } from 'node:net'
import { resolve } from 'node:path'
import { bytesIn, SIZE_UNITS } from '../kernel/size.ts'
import { InvalidValue } from './invalid-value.ts'

/** One YAML scalar or variable as text. */
export function scalarText(raw: unknown): string {
  if (typeof raw === 'string') return raw
  if (typeof raw === 'number' || typeof raw === 'bigint' || typeof raw === 'boolean') return String(raw)
  throw new InvalidValue('must be a single value')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Words for a range, shared by the error and the reference. */
export function rangeText({ min, max }: { readonly min?: number; readonly max?: number }): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return `, ${min} or more`
  return max === undefined ? '' : `, at most ${max}`
}

/** Takes text, or a `bigint` from YAML; what is a `number` there was written as a float. */
export function parseInteger(raw: unknown, range: { readonly min?: number; readonly max?: number }): number {
  const value = typeof raw === 'bigint' ? Number(raw) : wholeNumber(raw)
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = range
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new InvalidValue(`must be a whole number${rangeText(range)}`)
  }
  return value
}

function wholeNumber(raw: unknown): number {
  return typeof raw === 'string' && /^[+-]?\d+$/.test(raw.trim()) ? Number(raw) : Number.NaN
}

export function parseFloatAboveZero(raw: unknown, max: number | undefined): number {
  const decimal = typeof raw === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(raw.trim())
  const isNumber = typeof raw === 'number' || typeof raw === 'bigint'
  const value = isNumber || decimal ? Number(raw) : Number.NaN
  if (!Number.isFinite(value) || value <= 0 || value > (max ?? Number.MAX_VALUE)) {
    throw new InvalidValue(`must be a number above 0${max === undefined ? '' : ` and at most ${max}`}`)
  }
  return value
}

const TRUE_WORDS = ['1', 'true', 'yes', 'on']
export const FALSE_WORDS = ['0', 'false', 'no', 'off']

export function parseBoolean(raw: unknown): boolean {
  const word = scalarText(raw).trim().toLowerCase()
  if (TRUE_WORDS.includes(word)) return true
  if (FALSE_WORDS.includes(word)) return false
  throw new InvalidValue(`must be one of ${[...TRUE_WORDS, ...FALSE_WORDS].join(', ')}`)
}

/** Bytes in `8g`, `1.5gb` or `1048576`. */
export function parseSize(raw: unknown): number {
  const bytes = bytesIn(scalarText(raw))
  if (bytes === undefined) {
    throw new InvalidValue('must be a size above 0: a number with an optional k, m, g, t or p, such as 512m or 1.5g')
  }
  return bytes
}

/** Bytes the way an operator writes them, with the largest unit that fits evenly. */
export function sizeText(bytes: number): string {
  const powers = [...SIZE_UNITS].map((unit, index) => ({ unit, size: 1024 ** (index + 1) }))
  const whole = powers.findLast(({ size }) => bytes >= size && bytes % size === 0)
  return whole ? `${bytes / whole.size}${whole.unit}` : String(bytes)
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)

/** A DNS-style name in lower case. A last label of digits only would be a mistyped address. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && HOST_NAME.test(text) && !/(^|\.)\d+$/.test(text)
}

/** A bare address or host name, lower case, without brackets or the root dot. */
export function parseHost(text: string): string {
  const host = text
    .trim()
    .toLowerCase()
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(?<=[^.])\.$/, '')
  if (isIP(host) === 0 && !isHostName(host)) {
    throw new InvalidValue('must be one IP address or host name, without a port or network mask')
  }
  return host
}

/** A host with an optional port, as it stands in a URL: `example.com:8443`, `[::1]:80`. */
export function parseAuthority(text: string): string {
  const parts = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text.trim())
  const port = parts?.[2]
  try {
    if (port !== undefined) parseInteger(port, { min: 1, max: 65535 })
    const host = parseHost(parts?.[1] ?? '')
    return `${isIP(host) === 6 ? `[${host}]` : host}${port === undefined ? '' : `:${Number(port)}`}`
  } catch {
    throw new InvalidValue('must be a host name or IP address with an optional :port')
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether `host` can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  const family = isIP(host)
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

interface UrlNeeds {
  readonly protocols?: readonly string[]
  /** Refuse an unencrypted address on another machine. */
  readonly secureUnlessLoopback?: boolean
}

function parseWebUrl(text: string, { protocols = ['http', 'https'], secureUnlessLoopback = false }: UrlNeeds): URL {
  const url = URL.parse(text.trim())
  const host = url?.hostname.replace(/^\[(.+)\]$/, '$1') ?? ''
  // The host is checked again because a URL may hold characters, such as ; and ', that end a header directive.
  if (url === null || !protocols.includes(url.protocol.slice(0, -1)) || (isIP(host) === 0 && !isHostName(host))) {
    throw new InvalidValue(`must be a full URL that starts with ${protocols.map((name) => `${name}://`).join(' or ')}`)
  }
  if (url.username || url.password) throw new InvalidValue('must not hold a user name or password')
  if (secureUnlessLoopback && url.protocol === 'http:' && !isLoopback(host)) {
    throw new InvalidValue('must use https, unless it points to this machine')
  }
  return url
}

/** A web address, as written. */
export function parseUrl(text: string, needs: UrlNeeds = {}): string {
  parseWebUrl(text, needs)
  return text.trim()
}

/** Scheme, host and port of a URL, and nothing after them. */
export function parseOrigin(text: string, protocols: readonly string[]): string {
  return parseWebUrl(text, { protocols }).origin
}

/** One plain address without a display name. */
export function parseEmail(text: string): string {
  const address = text.trim()
  if (address.length > 254 || !/^[^\s@<>(),;:"\\]+@[^\s@<>(),;:"\\]+\.[^\s@<>(),;:"\\]+$/.test(address)) {
    throw new InvalidValue('must be one email address, such as name@example.com')
  }
  return address
}

export function parseIp(text: string): string {
  if (isIP(text) === 0) throw new InvalidValue('must be an IP address')
  return text
}

/** An address or a network: `10.0.0.1`, `10.0.0.0/8`, `fd00::/8`. */
export function parseCidr(text: string): string {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = isIPv4(address) ? 32 : 128
  const prefixFits = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  if (isIP(address) === 0 || address.includes('%') || !prefixFits || rest.length > 0) {
    throw new InvalidValue('must be an IP address or a network such as 10.0.0.0/8')
  }
  return text
}

/** Text of one line without control characters. */
export function parseLine(text: string, maxLength: number): string {
  if (text.length > maxLength || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new InvalidValue(`must be one line of printable characters, at most ${maxLength}`)
  }
  return text
}

export function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=\/|$)/, () => home)
}

/** An absolute path: the working directory may change while the server runs. */
export function parsePath(text: string, home: string): string {
  if (text.includes('\0')) throw new InvalidValue('must be a path')
  return resolve(expandHome(text.trim(), home))
}
