import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { Logger } from '../kernel/logger.ts'
import type { RequestFacts } from '../kernel/route.ts'
import { effectiveAddress, inList, isLoopback, plainAddress, proxyList } from './client-address.ts'
import type { EdgeSettings } from './edge-settings.ts'
import { externalUrl, hostName, isLoopbackName } from './hosting-address.ts'

/** Whoever adds one of these speaks for somebody else. */
const PROXY_HEADER = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

const BEARER = 'bearer '

declare module 'fastify' {
  interface FastifyRequest {
    facts: HttpRequestFacts
  }
}

/** Makes the facts of each request; keeps the parsed proxy list until the setting changes. */
export class FactsFactory {
  readonly #settings: () => EdgeSettings
  readonly #log: Logger
  #cidrs: readonly string[] = []
  #proxies: BlockList = proxyList([])

  constructor(settings: () => EdgeSettings, log: Logger) {
    this.#settings = settings
    this.#log = log
  }

  of(request: IncomingMessage, id: string): HttpRequestFacts {
    return new HttpRequestFacts(request, {
      id,
      settings: this.#settings(),
      isTrusted: (address) => inList(this.#trusted(), address),
      log: this.#log,
    })
  }

  #trusted(): BlockList {
    const { trustedProxyCidrs } = this.#settings()
    if (trustedProxyCidrs !== this.#cidrs) {
      this.#cidrs = trustedProxyCidrs
      this.#proxies = proxyList(trustedProxyCidrs)
    }
    return this.#proxies
  }
}

/**
 * The path as the router reads it: without query, without the `http://host` a proxy may write, percent-decoded. Every
 * rule that looks at a path must see what the router sees, or `/%61pi` would slip past those for `/api`.
 */
export function pathOf(url: string): string {
  const question = url.indexOf('?')
  const raw = question === -1 ? url : url.slice(0, question)
  if (raw.startsWith('/') && !raw.includes('%')) return raw
  const path = raw.startsWith('/') ? raw : (URL.parse(raw)?.pathname ?? raw)
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Worked out when asked for: most requests need only a few of them. */
export class HttpRequestFacts implements RequestFacts {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly #request: IncomingMessage
  readonly #settings: EdgeSettings
  readonly #isTrusted: (address: string) => boolean
  readonly #rootLog: Logger
  #clientAddress: string | undefined | null = null
  #log: Logger | undefined

  constructor(
    request: IncomingMessage,
    parts: { id: string; settings: EdgeSettings; isTrusted: (address: string) => boolean; log: Logger },
  ) {
    this.id = parts.id
    this.method = request.method ?? ''
    this.path = pathOf(request.url ?? '')
    this.#request = request
    this.#settings = parts.settings
    this.#isTrusted = parts.isTrusted
    this.#rootLog = parts.log
  }

  get clientAddress(): string | undefined {
    if (this.#clientAddress === null) {
      this.#clientAddress = this.#settings.rejectProxyHeaders
        ? plainAddress(this.#peer ?? '')
        : effectiveAddress(this.#peer, this.#request.headers, this.#isTrusted)
    }
    return this.#clientAddress
  }

  get userAgent(): string | undefined {
    return this.#request.headers['user-agent']
  }

  get referer(): string | undefined {
    return this.#request.headers.referer
  }

  get origin(): string | undefined {
    return this.#request.headers.origin
  }

  get bearerToken(): string | undefined {
    const header = this.#request.headers.authorization
    if (header === undefined || header.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined
    return header.slice(BEARER.length).trim() || undefined
  }

  /** The host the browser asked, in lower case. Its own text: good for comparing, not for links. */
  get host(): string {
    return (this.#forwarded('x-forwarded-host') ?? this.#request.headers.host ?? '').toLowerCase()
  }

  get externalUrl(): string {
    return externalUrl(
      {
        host: this.#request.headers.host,
        forwardedHost: this.#forwarded('x-forwarded-host'),
        forwardedProto: this.#forwarded('x-forwarded-proto'),
        forwardedPrefix: this.#forwarded('x-forwarded-prefix'),
      },
      this.#settings,
    )
  }

  get log(): Logger {
    this.#log ??= this.#rootLog.child('request', { request_id: this.id })
    return this.#log
  }

  /**
   * Whether somebody on this machine asks for themselves: with no trace of a proxy, under a loopback name (a page
   * elsewhere can point its own name at us), through the private socket or from a loopback address.
   */
  get isFromThisMachine(): boolean {
    const { headers, socket } = this.#request
    if (Object.keys(headers).some((name) => PROXY_HEADER.test(name))) return false
    if (!isLoopbackName(hostName(headers.host ?? ''))) return false
    if (this.#peer === undefined) return !socket.destroyed
    const peer = plainAddress(this.#peer)
    return peer !== undefined && isLoopback(peer)
  }

  #forwarded(name: string): string | undefined {
    return this.#proxySpeaks ? String(this.#request.headers[name] ?? '') || undefined : undefined
  }

  get #proxySpeaks(): boolean {
    if (this.#settings.rejectProxyHeaders) return false
    const peer = plainAddress(this.#peer ?? '')
    return peer === undefined || this.#isTrusted(peer)
  }

  /** Undefined on the private Unix socket. */
  get #peer(): string | undefined {
    return this.#request.socket.remoteAddress
  }
}
