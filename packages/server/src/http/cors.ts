import type { FastifyReply, FastifyRequest } from 'fastify'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, DPoP, Svc-Binding-Jwk, Svc-Web-Client'
const RESPONSE_HEADERS = 'X-Request-Id, Retry-After, Content-Disposition, X-Estimated-Size'
/** How long a browser may remember the answer to its preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 600

/**
 * Lets pages of the listed origins read our answers. No credentials: the API takes no cookies, so there is nothing a
 * foreign page could borrow. True when the request was a preflight and has been answered.
 */
export function answerCors(request: FastifyRequest, reply: FastifyReply, origins: () => readonly string[]): boolean {
  const { origin } = request.headers
  if (origin === undefined) return false
  if (!origins().includes(origin)) return false
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-expose-headers', RESPONSE_HEADERS)
  if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return false
  reply.header('access-control-allow-methods', METHODS)
  reply.header('access-control-allow-headers', REQUEST_HEADERS)
  reply.header('access-control-max-age', String(PREFLIGHT_MAX_AGE_SECONDS))
  void reply.code(204).send()
  return true
}
