import type { JsonSchema, JsonSchemaObject } from '@svc/client/openapi'
import { resolveSchema } from './resolve-ref.ts'

/** Deep enough for every body we know, and an end for schemas that contain themselves. */
const DEEPEST = 6

/** A small value the schema allows: required properties only, the first of several choices. */
export function exampleOf(document: unknown, schema: JsonSchema, depth = 0): unknown {
  if (typeof schema === 'boolean' || depth > DEEPEST) return null
  const within = (part: JsonSchema) => exampleOf(document, part, depth + 1)
  const given = givenExample(schema)
  if (given !== undefined) return given
  if (schema.$ref !== undefined) return within(resolveSchema(document, schema.$ref) ?? true)
  const [option] = schema.anyOf ?? schema.oneOf ?? []
  if (option !== undefined) return within(option)
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map(within))
  switch (Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? (schema.properties && 'object'))) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name))
          .map(([name, property]) => [name, within(property)]),
      )
    case 'array':
      return schema.items === undefined ? [] : [within(schema.items)]
    case 'string':
      return typeof schema.format === 'string' ? `<${schema.format}>` : 'string'
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' && schema.minimum > 0 ? schema.minimum : 0
    case 'boolean':
      return true
    default:
      return null
  }
}

function givenExample(schema: JsonSchemaObject): unknown {
  const { examples, example } = schema
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  return example ?? schema.default ?? schema.const ?? schema.enum?.[0]
}
