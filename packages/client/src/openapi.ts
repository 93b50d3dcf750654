import * as z from 'zod'

/**
 * The parts of an OpenAPI 3.1 document that a reader needs.
 * Loose everywhere: the standard allows far more, and an unknown keyword must not hide the rest.
 */

export type JsonSchema = boolean | JsonSchemaObject

export interface JsonSchemaObject {
  $ref?: string | undefined
  title?: string | undefined
  description?: string | undefined
  type?: string | string[] | undefined
  enum?: unknown[] | undefined
  properties?: Record<string, JsonSchema> | undefined
  required?: string[] | undefined
  items?: JsonSchema | undefined
  prefixItems?: JsonSchema[] | undefined
  additionalProperties?: JsonSchema | undefined
  anyOf?: JsonSchema[] | undefined
  oneOf?: JsonSchema[] | undefined
  allOf?: JsonSchema[] | undefined
  /** Other keywords (`const`, `format`, bounds …), of any type. */
  [keyword: string]: unknown
}

const schemas = z.array(z.lazy(() => JsonSchema)).optional()

export const JsonSchema: z.ZodType<JsonSchema> = z.union([
  z.boolean(),
  z.looseObject({
    $ref: z.string().optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    properties: z
      .record(
        z.string(),
        z.lazy(() => JsonSchema),
      )
      .optional(),
    required: z.array(z.string()).optional(),
    items: z.lazy(() => JsonSchema).optional(),
    prefixItems: schemas,
    additionalProperties: z.lazy(() => JsonSchema).optional(),
    anyOf: schemas,
    oneOf: schemas,
    allOf: schemas,
  }),
])

const Content = z.record(z.string(), z.looseObject({ schema: JsonSchema.optional() }))

export const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: JsonSchema.optional(),
})
export type Parameter = z.infer<typeof Parameter>

export const RequestBody = z.looseObject({
  description: z.string().optional(),
  required: z.boolean().optional(),
  content: Content.optional(),
})
export type RequestBody = z.infer<typeof RequestBody>

export const Reply = z.looseObject({
  description: z.string().optional(),
  content: Content.optional(),
})
export type Reply = z.infer<typeof Reply>

const Reference = z.object({ $ref: z.string() })

export const Operation = z.looseObject({
  summary: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  deprecated: z.boolean().optional(),
  parameters: z.array(z.union([Reference, Parameter])).optional(),
  requestBody: z.union([Reference, RequestBody]).optional(),
  responses: z.record(z.string(), z.union([Reference, Reply])).optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  /** Who may call, in words. */
  'x-needs': z.string().optional(),
})
export type Operation = z.infer<typeof Operation>

const PathItem = z.looseObject({
  parameters: z.array(z.union([Reference, Parameter])).optional(),
  get: Operation.optional(),
  put: Operation.optional(),
  post: Operation.optional(),
  delete: Operation.optional(),
  options: Operation.optional(),
  head: Operation.optional(),
  patch: Operation.optional(),
})

export const OpenApiDocument = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string().optional() }),
  servers: z.array(z.looseObject({ url: z.string() })).optional(),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })).optional(),
  paths: z.record(z.string(), PathItem),
})
export type OpenApiDocument = z.infer<typeof OpenApiDocument>
