import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { takeOutOwnCookies } from './cookies.ts'
import { hopByHop } from './hop-by-hop.ts'

/**
 * What only proxies may write: what a stranger wrote there is dropped, and ours is put in its place. Many applications
 * do not tell `_` from `-`.
 */
const FORWARDED = /^(?:forwarded|x[-_]forwarded[-_].*|x[-_]real[-_]ip)$/
/** Said anew, by what is really sent. */
const FRAMING = new Set(['content-length', 'expect', 'host', 'cookie'])

export interface ForwardedFacts {
  readonly clientAddress: string | undefined
  /** As the browser wrote it. */
  readonly host: string
  readonly proto: string
  /** The address of the application, without a slash at its end. */
  readonly prefix: string
  /** Whether the token in `Authorization` is one of ours. */
  readonly hidesAuthorization: boolean
}

/** The headers an application gets: the client's own, without our credentials and without what is between neighbours. */
export function requestHeaders(message: IncomingMessage, facts: ForwardedFacts): OutgoingHttpHeaders {
  const dropped = hopByHop(message.headers)
  const headers: OutgoingHttpHeaders = {}
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (values === undefined || dropped.has(name) || FRAMING.has(name) || FORWARDED.test(name)) continue
    if (name === 'authorization' && facts.hidesAuthorization) continue
    // Whose token it is was asked of the first only.
    headers[name] = values.length === 1 || name === 'authorization' ? values[0] : values
  }
  const { rest: cookie } = takeOutOwnCookies(message.headers.cookie)
  return {
    ...headers,
    host: message.headers.host ?? facts.host,
    ...(cookie === undefined ? {} : { cookie }),
    ...(facts.clientAddress === undefined ? {} : { 'x-forwarded-for': facts.clientAddress }),
    'x-forwarded-host': facts.host,
    'x-forwarded-proto': facts.proto,
    'x-forwarded-prefix': facts.prefix,
  }
}

/** How long the body is, said in one way only. */
export function bodyHeaders({ headers, method }: IncomingMessage): OutgoingHttpHeaders {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  if (headers['content-length'] !== undefined) return { 'content-length': headers['content-length'] }
  // Without this Node would announce a body in pieces where there is none.
  return method === 'GET' || method === 'HEAD' ? {} : { 'content-length': '0' }
}
