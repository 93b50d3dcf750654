import type { FastifyInstance } from 'fastify'
import { InvalidRequest } from './validation.ts'

const MALFORMED = new InvalidRequest([{ type: 'json_invalid', loc: ['body'], msg: 'JSON decode error', input: null }])

/**
 * Takes JSON bodies only. An empty body is no body, because many clients name the type on every request; a malformed
 * one is refused with 422 in the list form, before anybody asks who is calling.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Keys such as __proto__ are refused, not silently dropped: nobody sends them by accident.
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length === 0) return done(null, undefined)
    return parse(request, text.toString(), (error, value) => (error ? done(MALFORMED) : done(null, value)))
  })
}
