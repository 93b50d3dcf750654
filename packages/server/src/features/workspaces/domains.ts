import { isIPv4 } from 'node:net'
import { AppError } from '../../kernel/app-error.ts'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const LONGEST_HOST = 253
const LAST_PORT = 65_535

/**
 * Destinations: `host` (that name or IPv4 address), `.host` (and its subdomains), `*.host` (its subdomains), each with
 * an optional `:port`; in a list of allowed ones also IPv4 networks. Without any entry there is no list.
 */
export function readDomains(
  list: readonly string[] | null,
  field: 'allowed_domains' | 'rejected_domains',
): readonly string[] | null {
  const entries = (list ?? []).map((entry) => entry.trim()).filter((entry) => entry !== '')
  const read = entries.map((entry) => ({ entry, domain: readDomain(entry, field === 'allowed_domains') }))
  const bad = read.filter(({ domain }) => domain === undefined).map(({ entry }) => `'${entry}'`)
  if (bad.length > 0) throw new AppError('bad_request', `Invalid entries in ${field}: ${bad.join(', ')}`)
  const domains = [...new Set(read.flatMap(({ domain }) => domain ?? []))]
  return domains.length === 0 ? null : domains
}

function readDomain(entry: string, networks: boolean): string | undefined {
  const [target = '', port, ...rest] = entry.toLowerCase().split(':')
  if (rest.length > 0 || (port !== undefined && !isPort(port))) return undefined
  const name = target.replace(/(?<=[^.])\.$/, '') // the root dot means nothing here
  if (!isHost(name) && !(networks && isNetwork(name))) return undefined
  return port === undefined ? name : `${name}:${Number(port)}`
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= LAST_PORT

function isHost(name: string): boolean {
  if (isIPv4(name)) return true
  const host = name.replace(/^\*?\./, '')
  // A last label of digits only would be a mistyped address.
  return host.length <= LONGEST_HOST && HOST.test(host) && !/(?:^|\.)\d+$/.test(host)
}

function isNetwork(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/')
  return rest.length === 0 && isIPv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) <= 32
}
