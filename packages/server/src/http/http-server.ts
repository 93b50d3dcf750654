import fastify, { type FastifyInstance } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Route } from '../kernel/route.ts'
import type { OnFinished } from './access-log.ts'
import { mountRoutes } from './dispatch.ts'
import { Edge } from './edge.ts'
import type { EdgeSettings } from './edge-settings.ts'
import type { Guard } from './guard.ts'
import { acceptJsonBodies } from './json-body.ts'
import { requestIds } from './request-ids.ts'
import { WebUi } from './web-ui.ts'

/** What is parsed in one go, on the event loop: a hostile body of this size takes it some milliseconds. */
const JSON_BODY_LIMIT_BYTES = 64 * 1024
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
  readonly onFinished?: OnFinished
}

/** Builds the HTTP side of the service. It listens on nothing by itself: see `Listener`. */
export async function createHttp(parts: HttpParts): Promise<FastifyInstance> {
  const edge = new Edge(parts)
  const app = fastify({
    logger: false,
    genReqId: requestIds(),
    bodyLimit: JSON_BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    // An address the router cannot read never reaches the hook below.
    frameworkErrors: (error, request, reply) => {
      edge.begin(request, reply)
      edge.sendError(edge.refusal(request, reply) ?? error, request, reply)
    },
  })
  app.decorateRequest('facts') // declared before the first request fills it, so that all requests have one shape
  // Of the kind that calls back: the kind that promises costs each request some microseconds more.
  app.addHook('onRequest', (request, reply, done) => {
    edge.begin(request, reply)
    if (!edge.answeredPreflight(request, reply)) done(edge.refusal(request, reply))
  })
  acceptJsonBodies(app)
  const webUi = new WebUi(parts.settings)
  await webUi.register(app)
  app.setErrorHandler((error, request, reply) => edge.sendError(error, request, reply))
  app.setNotFoundHandler(async (request, reply) => {
    if (await webUi.answer(request, reply)) return reply
    throw new AppError('not_found', 'Not Found')
  })
  mountRoutes(app, parts)
  await app.ready()
  return app
}
