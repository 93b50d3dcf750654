import { randomBytes } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Route } from '../kernel/route.ts'
import { answerCors } from './cors.ts'
import { mountRoutes } from './dispatch.ts'
import type { EdgeSettings } from './edge-settings.ts'
import { errorReply } from './error-reply.ts'
import type { Guard } from './guard.ts'
import { acceptJsonBodies } from './json-body.ts'
import { RateLimiter } from './rate-limit.ts'
import { FactsFactory } from './request-facts.ts'
import { API_HEADERS, COMMON_HEADERS } from './security-headers.ts'
import { WebUi } from './web-ui.ts'

const JSON_BODY_LIMIT_BYTES = 1024 * 1024
/** Longer than any id or name that stands in a path. */
const MAX_PARAM_LENGTH = 256

export interface HttpParts {
  readonly routes: readonly Route[]
  readonly settings: () => EdgeSettings
  readonly guard: Guard
  readonly clock: Clock
  readonly log: Logger
  /** Tests turn this on: a reply that does not fit its row's schema is then a fault instead of a surprise. */
  readonly checkReplies?: boolean
  /** Told of every finished request, for the metrics. */
  readonly onFinished?: (route: string, method: string, status: number, seconds: number) => void
}

/** Builds the HTTP side of the service. It listens on nothing by itself: see `Listener`. */
export async function createHttp(parts: HttpParts): Promise<FastifyInstance> {
  const facts = new FactsFactory(parts.settings, parts.log)
  const app = fastify({
    logger: false,
    genReqId: requestIds(),
    bodyLimit: JSON_BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // An address the router cannot read never reaches the hooks, so they are done here.
    frameworkErrors: (error, request, reply) => {
      begin(request, reply, facts)
      sendError(error, request, reply)
    },
  })
  acceptJsonBodies(app)
  const webUi = new WebUi(parts.settings)
  await webUi.register(app)
  addEdge(app, parts, facts)
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
  app.setNotFoundHandler(async (request, reply) => {
    if (await webUi.answer(request, reply)) return reply
    throw new AppError('not_found', 'Not Found')
  })
  mountRoutes(app, parts)
  await app.ready()
  return app
}

/** What happens to every request before its route is asked, and after it has answered. */
function addEdge(app: FastifyInstance, parts: HttpParts, facts: FactsFactory): void {
  const { settings, clock, log, onFinished } = parts
  const limiter = new RateLimiter(clock)
  const accessLog = log.child('access')
  const edgeLog = log.child('http')

  // biome-ignore lint/suspicious/noExplicitAny: Fastify wants the slot declared before the first request fills it
  app.decorateRequest('facts', null as any)

  // Both hooks are of the kind that calls back: the kind that promises costs each request some microseconds more.
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply, facts)
    if (answerCors(request, reply, () => settings().corsOrigins ?? [request.facts.externalUrl])) return
    done(isApi(request) ? refusalByLimit(request) : undefined)
  })

  function refusalByLimit(request: FastifyRequest): AppError | undefined {
    const { apiRateLimit } = settings()
    const address = apiRateLimit > 0 ? request.facts.clientAddress : undefined
    const refused = address === undefined ? undefined : limiter.take(address, apiRateLimit)
    if (!refused) return undefined
    if (refused.first) edgeLog.warning('client reached the API rate limit', { client: address, limit: apiRateLimit })
    return new AppError('rate_limited', 'Too many requests; retry later', refused)
  }

  app.addHook('onResponse', (request, reply, done) => {
    const { method, path, clientAddress } = request.facts
    const elapsedMs = reply.elapsedTime
    const ms = Math.round(elapsedMs * 10) / 10
    accessLog.info(`${method} ${path} ${reply.statusCode}`, { ms, client: clientAddress, request_id: request.id })
    onFinished?.(request.routeOptions.url ?? 'none', method, reply.statusCode, elapsedMs / 1000)
    done()
  })
}

function begin(request: FastifyRequest, reply: FastifyReply, facts: FactsFactory): void {
  request.facts = facts.of(request)
  reply.headers(isApi(request) ? API_HEADERS : COMMON_HEADERS)
  reply.header('x-request-id', request.id)
}

const isApi = (request: FastifyRequest): boolean => request.facts.path.startsWith('/api/')

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body, fault } = errorReply(error, request.id)
  if (fault !== undefined) {
    const { method, path, log } = request.facts
    log.error(`${method} ${path} failed`, { error: fault })
  }
  return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(JSON.stringify(body))
}

/** Short, and unlike those of any earlier start of the server. */
function requestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${(++count).toString(36)}`
}
