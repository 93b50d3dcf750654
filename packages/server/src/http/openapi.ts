import { type ErrorCode, errorCodes } from '@svc/protocol/errors'
import { z } from 'zod'
import { type Access, API_PREFIX, needsNamed, type OtherMedia, type Route } from '../kernel/route.ts'
import type { FormDescription } from '../kernel/upload.ts'
import { STATUS } from './status.ts'

type Json = Record<string, unknown>

/** Prints the route table as an OpenAPI 3.1 document. What the table does not say is not in the document. */
export function openApiDocument(routes: readonly Route[], info: { title: string; version: string }): Json {
  const paths: Record<string, Json> = {}
  for (const row of routes) {
    const path = row.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation(row) }
  }
  return {
    openapi: '3.1.0',
    info: {
      ...info,
      description: 'One document for every call. Paths below `/api/v1` keep their meaning until a `/api/v2` exists.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((row) => row.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA, ValidationError: VALIDATION_ERROR_SCHEMA },
      securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  }
}

function operation(row: Route): Json {
  const body = bodyOf(row)
  return {
    operationId: `${row.method.toLowerCase()}-${row.path}`,
    tags: [row.tag],
    summary: row.summary,
    'x-needs': needsInWords(row.needs),
    security: securityOf(row.needs),
    parameters: [...parametersOf(row.params, 'path'), ...parametersOf(row.query, 'query')],
    ...(body ? { requestBody: body } : {}),
    responses: { 200: success(row.reply), ...refusalsOf(row) },
  }
}

function bodyOf({ body, upload }: Route): Json | undefined {
  if (upload) return { required: true, content: { 'multipart/form-data': { schema: formSchema(upload) } } }
  return body && { required: true, content: { 'application/json': { schema: jsonSchema(body, 'input') } } }
}

function formSchema({ file, fields = {} }: FormDescription): Json {
  const texts = Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }])
  const bytes = { type: 'string', contentMediaType: 'application/octet-stream', description: file.description }
  return { type: 'object', required: [file.field], properties: { [file.field]: bytes, ...Object.fromEntries(texts) } }
}

export function needsInWords(needs: Access): string {
  if (typeof needs === 'string') return needs
  const inWords = needsNamed(needs).map(({ permission, on }) => `${permission} on ${on.replace(/:(\w+)/g, '{$1}')}`)
  return inWords.join('anyOf' in needs ? ' or ' : ' and ')
}

function securityOf(needs: Access): Json[] {
  if (needs === 'anyone') return []
  const optional = ['anyone, better signed in', 'anyone, judged by token', 'operator']
  return typeof needs === 'string' && optional.includes(needs) ? [{}, { session: [] }] : [{ session: [] }]
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: shape,
  }))
}

function success(reply: z.ZodType | OtherMedia): Json {
  if (!('mediaType' in reply)) {
    return { description: 'Done', content: { 'application/json': { schema: jsonSchema(reply, 'output') } } }
  }
  return { description: reply.description, content: { [reply.mediaType]: { schema: { type: 'string' } } } }
}

/** One entry a status: two codes may share it, so their meanings are listed together. */
function refusalsOf(row: Route): Record<string, Json> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...impliedRefusals(row), ...row.refusals])) {
    byStatus.set(STATUS[code], [...(byStatus.get(STATUS[code]) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const schema = codes.includes('invalid_request') ? 'ValidationError' : 'Error'
      return [
        String(status),
        {
          description: codes.map((code) => `\`${code}\`: ${errorCodes[code]}`).join('\n\n'),
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
        },
      ]
    }),
  )
}

/** What follows from the row itself: input can be invalid, a caller can lack sign-in or permission, anything can fail. */
function impliedRefusals(row: Route): ErrorCode[] {
  const codes: ErrorCode[] = []
  if (row.params || row.query || row.body) codes.push('invalid_request')
  if (row.body) codes.push('payload_too_large', 'unsupported_media_type')
  if (row.upload) codes.push('invalid_request', 'bad_request', 'unsupported_media_type')
  if (securityOf(row.needs).some((scheme) => 'session' in scheme)) codes.push('not_authenticated')
  if (row.needs === 'signed in' || typeof row.needs === 'object') {
    codes.push('account_disabled', 'password_expired', 'password_change_required')
  }
  if (row.needs === 'operator' || typeof row.needs === 'object') codes.push('permission_denied')
  if (row.path.startsWith(`${API_PREFIX}/`)) codes.push('rate_limited')
  return [...codes, 'internal_error']
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return shape
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: { type: 'string', description: 'A sentence for people' },
    code: { enum: Object.keys(errorCodes), description: 'For programs; never changes its meaning' },
    request_id: { type: 'string', description: 'Finds this request in the log of the server' },
  },
}

const VALIDATION_ERROR_SCHEMA = {
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'loc', 'msg'],
        properties: {
          type: { type: 'string' },
          loc: { type: 'array', items: { type: ['string', 'integer'] } },
          msg: { type: 'string' },
          input: {},
          ctx: { type: 'object' },
        },
      },
    },
    code: { const: 'invalid_request' },
    request_id: { type: 'string' },
  },
}
