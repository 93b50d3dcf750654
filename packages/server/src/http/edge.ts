import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { AccessLog, type OnFinished } from './access-log.ts'
import { answerCors } from './cors.ts'
import type { EdgeSettings } from './edge-settings.ts'
import { errorReply } from './error-reply.ts'
import { nulInUrl } from './nul.ts'
import { RateLimiter } from './rate-limit.ts'
import { FactsFactory } from './request-facts.ts'
import { API_HEADERS, COMMON_HEADERS } from './security-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where a path exists and the method does not: the methods that do. */
    allow?: string
    /** False where a body has no meaning: whatever comes is ignored. */
    takesBody?: boolean
  }
}

/** What happens to every request, whichever route it is for and however it ends. */
export class Edge {
  readonly #settings: () => EdgeSettings
  readonly #facts: FactsFactory
  readonly #limiter: RateLimiter
  readonly #log: Logger
  readonly #accessLog: AccessLog

  constructor(parts: { settings: () => EdgeSettings; clock: Clock; log: Logger; onFinished?: OnFinished | undefined }) {
    this.#settings = parts.settings
    this.#facts = new FactsFactory(parts.settings, parts.log)
    this.#limiter = new RateLimiter(parts.clock)
    this.#log = parts.log.child('http')
    this.#accessLog = new AccessLog(parts)
  }

  /** First of all: gathers the facts, sets the headers every answer has, and sees to it that the end is noted. */
  begin(request: FastifyRequest, reply: FastifyReply): void {
    request.facts = this.#facts.of(request.raw, request.id)
    const maybeUi = request.is404 && !isApi(request)
    reply.headers(maybeUi ? COMMON_HEADERS : API_HEADERS)
    reply.header('x-request-id', request.id)
    this.#accessLog.follow(request.facts, reply.raw, () => request.routeOptions.url ?? 'none')
  }

  /** What can be refused before anything of the body is read. */
  refusal(request: FastifyRequest, reply: FastifyReply): AppError | undefined {
    return this.#refusalByLimit(request) ?? refusalByAddress(request, reply) ?? nulInUrl(request.url)
  }

  /** True when the request was a CORS preflight and has been answered. */
  answeredPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
    return answerCors(request, reply, () => this.#settings().corsOrigins ?? [ownOrigin(request)])
  }

  /** Why this client has to wait, if it has to. */
  #refusalByLimit(request: FastifyRequest): AppError | undefined {
    const { apiRateLimit } = this.#settings()
    if (apiRateLimit === 0 || !isApi(request)) return undefined
    const client = request.facts.clientAddress
    const refused = client === undefined ? undefined : this.#limiter.take(client, apiRateLimit)
    if (!refused) return undefined
    if (refused.first) this.#log.warning('client reached the API rate limit', { client, limit: apiRateLimit })
    return new AppError('rate_limited', 'Too many requests; retry later', refused)
  }

  sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, headers, body, fault } = errorReply(error, request.id)
    // A client that hung up while it was sending is no fault of ours; a database that did is one.
    const leftEarly = request.raw.destroyed && !request.raw.complete
    if (fault !== undefined && !leftEarly) {
      const { method, path, log } = request.facts
      log.error(`${method} ${path} failed`, { error: fault })
    }
    return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(body))
  }
}

/** Without the path below which a proxy may offer us: an origin has none. */
const ownOrigin = (request: FastifyRequest): string => new URL(request.facts.externalUrl).origin

/** Only pages and files can be at an address without a route, and only a GET asks for those. */
function refusalByAddress(request: FastifyRequest, reply: FastifyReply): AppError | undefined {
  const { allow } = request.routeOptions.config
  if (allow !== undefined) {
    reply.header('allow', allow)
    return new AppError('method_not_allowed', 'Method Not Allowed')
  }
  const mayBePage = request.method === 'GET' || request.method === 'HEAD'
  return request.is404 && !mayBePage ? new AppError('not_found', 'Not Found') : undefined
}

const isApi = (request: FastifyRequest): boolean => request.facts.path.startsWith('/api/')
