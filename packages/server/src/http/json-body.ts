import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../kernel/app-error.ts'
import { InvalidRequest } from './validation.ts'

const MALFORMED = new InvalidRequest([{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null }])

const NUL = 'The request must not hold a NUL character'
const HOLDS_NUL = new InvalidRequest([{ type: 'value_error', loc: ['body'], msg: `Value error, ${NUL}`, input: null }])
/** The only way to write it in JSON. An even number of backslashes before it is text about backslashes. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/

const NOT_JSON = new AppError('unsupported_media_type', 'Send the body as application/json')

const isIgnored = (request: FastifyRequest): boolean => request.routeOptions.config.takesBody === false

/** Not every database can hold or compare it, and no text of a person has it. */
export const holdsNul = (url: string): boolean => url.includes('%00')
export const nulRefused = () => new AppError('bad_request', NUL)

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
    if (ESCAPED_NUL.test(text.toString())) return done(HOLDS_NUL)
    return parse(request, text.toString(), (error, value) => (error ? done(MALFORMED) : done(null, value)))
  })
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _, done) => {
    return isIgnored(request) ? done(null, undefined) : done(NOT_JSON)
  })
}
