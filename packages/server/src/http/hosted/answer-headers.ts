import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { FOR_SHARED_CACHES, keptPrivately } from './cache-control.ts'
import { confineCookie } from './cookies.ts'
import { hopByHop } from './hop-by-hop.ts'

/** These speak for every address of a host, and an application has only some of them. */
const FOR_THE_WHOLE_HOST = new Set([
  'alt-svc',
  'clear-site-data',
  'expect-ct',
  'nel',
  'public-key-pins',
  'report-to',
  'service-worker-allowed',
  'strict-transport-security',
])

/** No `allow-same-origin`: the page is a stranger to this host, and reaches nothing of the web interface. */
const CONFINED = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads'

export interface AnswerPlace {
  /** The address of the application, with a slash at its end. */
  readonly prefix: string
  readonly hostPort: number
  /** The host the browser asked. */
  readonly host: string
  /** Whether the application shares its host with the web interface. */
  readonly isShared: boolean
  /** Whether only some may see the application: no cache between may give its answers to others. */
  readonly isPrivate: boolean
}

/** The headers a browser gets of an application's answer. */
export function answerHeaders(answer: IncomingMessage, place: AnswerPlace): OutgoingHttpHeaders {
  const dropped = hopByHop(answer.headers)
  const headers: Record<string, string | string[]> = {}
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    if (values === undefined || dropped.has(name) || FOR_THE_WHOLE_HOST.has(name)) continue
    headers[name] = one(values)
  }
  const cookies = answer.headers['set-cookie']?.flatMap((cookie) => confineCookie(cookie, place.prefix) ?? [])
  delete headers['set-cookie']
  if (cookies && cookies.length > 0) headers['set-cookie'] = cookies
  for (const name of ['location', 'content-location'] as const) {
    const target = answer.headers[name]
    if (target !== undefined) headers[name] = moved(target, place)
  }
  if (place.isPrivate) {
    for (const name of FOR_SHARED_CACHES) delete headers[name]
    headers['cache-control'] = keptPrivately(answer.headersDistinct['cache-control'])
  }
  headers['referrer-policy'] ??= 'same-origin'
  if (place.isShared) {
    headers['content-security-policy'] = [...(answer.headersDistinct['content-security-policy'] ?? []), CONFINED]
    // A page that is confined and has this one is shown by no browser.
    delete headers['cross-origin-opener-policy']
  }
  return headers
}

/** An application knows its own paths, and sometimes the host, but not the prefix under which people see them. */
function moved(target: string, { prefix, hostPort, host }: AnswerPlace): string {
  if (target.startsWith('//')) return target
  if (target.startsWith('/')) return withPrefix(target, prefix)
  if (!/^https?:/i.test(target)) return target
  const url = URL.parse(target)
  if (!url) return target
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname) && url.port === String(hostPort)
  if (!isLoopback && url.host !== host.toLowerCase()) return target
  return withPrefix(`${url.pathname}${url.search}${url.hash}`, prefix)
}

const withPrefix = (path: string, prefix: string): string =>
  path.startsWith(prefix) || `${path}/` === prefix ? path : `${prefix}${path.slice(1)}`

const one = (values: string[]): string | string[] => (values.length === 1 ? (values[0] ?? '') : values)
