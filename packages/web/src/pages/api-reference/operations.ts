import {
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  Parameter,
  Reply,
  RequestBody,
} from '@svc/client/openapi'
import type * as z from 'zod'
import { resolveRef } from './resolve-ref.ts'

/** In the order a reader meets a resource: look, make, change, remove. */
const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const

const UNTAGGED = 'Other'

export interface Content {
  readonly mediaType: string
  readonly schema: JsonSchema | undefined
}

export interface ApiReply {
  readonly status: string
  readonly description: string
  readonly contents: readonly Content[]
}

export interface ApiOperation {
  /** Names it in links: `get-/health`. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly deprecated: boolean
  /** Who may call, in the server's words; '' when it does not say. */
  readonly needs: string
  readonly needsSignIn: boolean
  readonly parameters: readonly Parameter[]
  readonly body: { readonly required: boolean; readonly contents: readonly Content[] } | undefined
  readonly replies: readonly ApiReply[]
}

export interface OperationGroup {
  readonly tag: string
  readonly description: string
  readonly operations: readonly ApiOperation[]
}

/** Every operation of the document, flat and with its references followed. */
export function readOperations(document: OpenApiDocument): ApiOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation) return []
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      return [readOperation(document, method, path, { ...operation, parameters })]
    }),
  )
}

function readOperation(document: OpenApiDocument, method: string, path: string, operation: Operation): ApiOperation {
  const body = follow(document, RequestBody, operation.requestBody)
  return {
    id: `${method}-${path}`,
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    tag: operation.tags?.[0] ?? UNTAGGED,
    deprecated: operation.deprecated ?? false,
    needs: operation['x-needs'] ?? '',
    needsSignIn: needsSignIn(operation),
    parameters: (operation.parameters ?? []).flatMap((parameter) => follow(document, Parameter, parameter) ?? []),
    body: body && { required: body.required ?? false, contents: readContents(body.content) },
    replies: Object.entries(operation.responses ?? {}).map(([status, response]) => {
      const reply = follow(document, Reply, response)
      return { status, description: reply?.description ?? '', contents: readContents(reply?.content) }
    }),
  }
}

/** `security` lists alternatives; an empty one means that nothing needs to be sent. */
function needsSignIn({ security = [] }: Operation): boolean {
  return security.length > 0 && security.every((alternative) => Object.keys(alternative).length > 0)
}

/** The thing itself, or what its reference points to; undefined when that is missing or of another shape. */
function follow<T>(document: OpenApiDocument, shape: z.ZodType<T>, value: T | { $ref: string } | undefined) {
  const target =
    typeof value === 'object' && value !== null && '$ref' in value && typeof value.$ref === 'string'
      ? resolveRef(document, value.$ref)
      : value
  return shape.safeParse(target).data
}

function readContents(content: RequestBody['content']): Content[] {
  return Object.entries(content ?? {}).map(([mediaType, { schema }]) => ({ mediaType, schema }))
}

/** Groups in the order of the document's own tag list, then by first appearance. */
export function groupByTag(operations: readonly ApiOperation[], tags: OpenApiDocument['tags'] = []): OperationGroup[] {
  const byTag = Map.groupBy(operations, (operation) => operation.tag)
  const order = new Set([...tags.map((tag) => tag.name), ...byTag.keys()])
  return [...order].flatMap((tag) => {
    const members = byTag.get(tag)
    if (!members) return []
    return [{ tag, description: tags.find(({ name }) => name === tag)?.description ?? '', operations: members }]
  })
}
