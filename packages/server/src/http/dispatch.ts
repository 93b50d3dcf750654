import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { needsNamed, Reply, type Route } from '../kernel/route.ts'
import { encodingFor, pack } from './compression.ts'
import type { EdgeSettings } from './edge-settings.ts'
import { admit, type Guard } from './guard.ts'
import { acceptUploads, uploadIn } from './upload.ts'
import { type FieldProblem, InvalidRequest, parseInput } from './validation.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

interface DispatchParts {
  readonly routes: readonly Route[]
  readonly guard: Guard
  readonly settings: () => EdgeSettings
  readonly checkReplies?: boolean
}

/** Puts every row of the table into the router, and an answer with `Allow` for the methods a path does not have. */
export function mountRoutes(app: FastifyInstance, parts: DispatchParts): void {
  for (const row of parts.routes) if (!row.upload) mount(app, row, parts)
  // In a room of their own, where nobody reads bodies before the handler does.
  app.register(async (room) => {
    acceptUploads(room)
    for (const row of parts.routes) if (row.upload) mount(room, row, parts)
  })
  for (const [path, rows] of Map.groupBy(parts.routes, (row) => row.path)) {
    const present = rows.map((row) => row.method)
    const allow = [...present, ...(present.includes('GET') ? ['HEAD'] : [])].toSorted().join(', ')
    app.route({
      method: METHODS.filter((method) => !present.some((other) => other === method)),
      url: path,
      config: { allow }, // refused by the edge, before the body is read
      handler: () => {
        throw new Error('the edge lets nobody through to here')
      },
    })
  }
}

function mount(app: FastifyInstance, row: Route, parts: DispatchParts): void {
  checkNeed(row)
  app.route({
    method: row.method,
    url: row.path,
    config: { takesBody: row.body !== undefined },
    ...(row.bodyLimitBytes === undefined ? {} : { bodyLimit: row.bodyLimitBytes }),
    handler: (request, reply) => dispatch(row, parts, request, reply),
  })
}

/** A parameter that does not exist would ask for a permission on nothing. */
function checkNeed({ path, needs }: Route): void {
  if (typeof needs === 'string') return
  for (const { on } of needsNamed(needs)) {
    const unknown = [...on.matchAll(/:\w+/g)].find(([name]) => !path.split('/').includes(name))
    if (unknown) throw new Error(`${path} asks for a permission on ${on}, and has no ${unknown[0]}`)
  }
}

/** Who may call, then whether the input fits, then the one call. No handler ever sees a request that failed either. */
async function dispatch(
  row: Route,
  parts: DispatchParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Payload> {
  const { facts } = request
  const caller = await admit(row.needs, { params: rawParams(request), request: facts }, parts)
  const { params, query, body } = validInput(row, request)
  const upload = row.upload && uploadIn(request)
  const answer = await row.handle({ caller, params, query, body, upload, request: facts })
  if (parts.checkReplies) checkReply(row, answer)
  return payload(request, reply, answer)
}

/** As the router cut them out of the path: always text, not checked yet. */
function rawParams(request: FastifyRequest): Readonly<Record<string, string>> {
  return request.params as Record<string, string>
}

interface Input {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

const NO_INPUT: Input = { params: undefined, query: undefined, body: undefined }

function validInput(row: Route, request: FastifyRequest): Input {
  if (!row.params && !row.query && !row.body) return NO_INPUT
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

type Payload = string | Buffer | Readable

/** Sets status and headers, and gives back what Fastify is to send. Handing back the reply itself would be slower. */
function payload(request: FastifyRequest, reply: FastifyReply, answer: unknown): Payload | Promise<Payload> {
  if (!(answer instanceof Reply)) return json(request, reply, answer)
  reply.code(answer.status).headers(answer.headers)
  const { body } = answer
  if (typeof body === 'string') return text(request, reply, body)
  if (Buffer.isBuffer(body) || body instanceof Readable) return body
  return json(request, reply, body)
}

function json(request: FastifyRequest, reply: FastifyReply, value: unknown): string | Promise<Buffer> {
  reply.type('application/json; charset=utf-8')
  return text(request, reply, JSON.stringify(value))
}

function text(request: FastifyRequest, reply: FastifyReply, value: string): string | Promise<Buffer> {
  const encoding = encodingFor(value, request.headers['accept-encoding'])
  if (!encoding) return value
  reply.header('content-encoding', encoding)
  return pack(value, encoding)
}

function checkReply(row: Route, answer: unknown): void {
  if ('mediaType' in row.reply || (answer instanceof Reply && answer.status !== 200)) return
  const body = answer instanceof Reply ? answer.body : answer
  const result = row.reply.safeParse(body)
  if (!result.success) throw new Error(`${row.method} ${row.path} broke its own reply schema`, { cause: result.error })
}
