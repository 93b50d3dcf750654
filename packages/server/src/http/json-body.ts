import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { nulInJson } from './nul.ts'
import { InvalidRequest } from './validation.ts'

const MALFORMED = new InvalidRequest([{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null }])

const NOT_JSON = new AppError('unsupported_media_type', 'Send the body as application/json')

const isIgnored = (request: FastifyRequest): boolean => request.routeOptions.config.takesBody === false

/**
 * Takes JSON bodies only. An empty body is no body, because many clients name the type on every request; a malformed
 * one is refused with 422 in the list form, before anybody asks who is calling. A route that takes no body does not
 * look at one: signing out, for one, must never fail.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Keys such as __proto__ are refused, not silently dropped: nobody sends them by accident.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length === 0 || isIgnored(request)) return done(null, undefined)
    const refusal = nulInJson(text.toString())
    if (refusal) return done(refusal)
    return parse(request, text.toString(), (error, value) => (error ? done(MALFORMED) : done(null, value)))
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _, done) => {
    return isIgnored(request) ? done(null, undefined) : done(NOT_JSON)
  })
}
