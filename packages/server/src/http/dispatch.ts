import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { AppError } from '../kernel/app-error.ts'
import { Reply, type Route } from '../kernel/route.ts'
import type { EdgeSettings } from './edge-settings.ts'
import { admit, type Guard } from './guard.ts'
import { type FieldProblem, InvalidRequest, parseInput } from './validation.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Below this, compressing costs more than it saves. */
const COMPRESS_FROM_LENGTH = 1024

interface DispatchParts {
  readonly routes: readonly Route[]
  readonly guard: Guard
  readonly settings: () => EdgeSettings
  readonly checkReplies?: boolean
}

/** Puts every row of the table into the router, and an answer with `Allow` for the methods a path does not have. */
export function mountRoutes(app: FastifyInstance, parts: DispatchParts): void {
  for (const row of parts.routes) {
    app.route({
      method: row.method,
      url: row.path,
      ...(row.bodyLimitBytes === undefined ? {} : { bodyLimit: row.bodyLimitBytes }),
      handler: (request, reply) => dispatch(row, parts, request, reply),
    })
  }
  for (const [path, rows] of Map.groupBy(parts.routes, (row) => row.path)) {
    const present = rows.map((row) => row.method)
    const allow = [...present, ...(present.includes('GET') ? ['HEAD'] : [])].toSorted().join(', ')
    app.route({
      method: METHODS.filter((method) => !present.some((other) => other === method)),
      url: path,
      handler: (_, reply) => {
        reply.header('allow', allow)
        throw new AppError('method_not_allowed', 'Method Not Allowed')
      },
    })
  }
}

/** Who may call, then whether the input fits, then the one call. No handler ever sees a request that failed either. */
async function dispatch(
  row: Route,
  parts: DispatchParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { facts, headers } = request
  const params = request.params as Record<string, string>
  const caller = await admit(row.needs, { headers, params, request: facts }, parts)
  const input = validInput(row, request)
  const answer = await row.handle({ caller, ...input, request: facts })
  if (parts.checkReplies) checkReply(row, answer)
  return send(reply, answer)
}

function validInput(row: Route, request: FastifyRequest): { params: unknown; query: unknown; body: unknown } {
  const problems: FieldProblem[] = []
  const parse = (schema: z.ZodType | undefined, place: 'path' | 'query' | 'body', value: unknown) => {
    if (!schema) return undefined
    const result = parseInput(schema, place, value)
    problems.push(...result.problems)
    return result.value
  }
  const input = {
    params: parse(row.params, 'path', request.params),
    query: parse(row.query, 'query', request.query),
    body: parse(row.body, 'body', request.body),
  }
  if (problems.length > 0) throw new InvalidRequest(problems)
  return input
}

function send(reply: FastifyReply, answer: unknown): FastifyReply {
  if (!(answer instanceof Reply)) return sendJson(reply, answer)
  reply.code(answer.status).headers(answer.headers)
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body) || body instanceof Readable) return reply.send(body)
  return sendJson(reply, body)
}

function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  const text = JSON.stringify(value)
  reply.type('application/json; charset=utf-8')
  if (text.length < COMPRESS_FROM_LENGTH) return reply.send(text)
  reply.compress(text)
  return reply
}

function checkReply(row: Route, answer: unknown): void {
  if ('mediaType' in row.reply) return
  const body = answer instanceof Reply ? answer.body : answer
  const result = row.reply.safeParse(body)
  if (!result.success) throw new Error(`${row.method} ${row.path} broke its own reply schema`, { cause: result.error })
}
