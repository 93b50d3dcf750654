import type { JsonSchema, JsonSchemaObject } from '@svc/client/openapi'
import { refName, resolveSchema } from './resolve-ref.ts'
import { schemaNotes } from './schema-notes.ts'

/** One line of a schema as a person reads it. */
export interface SchemaNode {
  /** The property; '' for the schema itself. */
  readonly name: string
  /** "string", "array of object", "string or null" … */
  readonly type: string
  readonly required: boolean
  readonly description: string
  /** Bounds, format and default, each a few words. */
  readonly notes: readonly string[]
  /** The only values allowed, as JSON; empty when there is no such list. */
  readonly values: readonly string[]
  readonly children: readonly SchemaNode[]
}

type Shape = Omit<SchemaNode, 'name' | 'required'>

const NOTHING = { description: '', notes: [], values: [], children: [] }

/** Turns a JSON Schema into a tree; `document` is where its references lead. */
export function schemaTree(document: unknown, schema: JsonSchema): SchemaNode {
  return { name: '', required: true, ...new Reader(document).shapeOf(schema, []) }
}

class Reader {
  readonly #document: unknown

  constructor(document: unknown) {
    this.#document = document
  }

  /** `trail` holds the references being followed: a schema that contains itself is named once more, then cut. */
  shapeOf(schema: JsonSchema, trail: readonly string[]): Shape {
    if (typeof schema === 'boolean') return { ...NOTHING, type: schema ? 'anything' : 'nothing' }
    if (schema.$ref !== undefined) return this.#followed(schema, schema.$ref, trail)
    const own = { description: schema.description ?? '', notes: schemaNotes(schema), values: valuesOf(schema) }
    const options = schema.anyOf ?? schema.oneOf
    if (options) return { ...own, ...this.#choice(options, trail, own.values) }
    if (schema.allOf) return { ...own, ...this.#merged(schema.allOf, trail) }
    return { ...own, ...this.#plain(schema, trail) }
  }

  #followed(schema: JsonSchemaObject, ref: string, trail: readonly string[]): Shape {
    if (trail.includes(ref)) return { ...NOTHING, type: `${refName(ref)}, as above` }
    const target = resolveSchema(this.#document, ref)
    if (target === undefined) return { ...NOTHING, type: refName(ref) }
    const shape = this.shapeOf(target, [...trail, ref])
    // What is said beside the reference is about this use of it, so it goes first.
    return { ...shape, description: schema.description ?? shape.description }
  }

  #choice(options: readonly JsonSchema[], trail: readonly string[], ownValues: readonly string[]) {
    const shapes = options.map((option) => this.shapeOf(option, trail))
    const real = shapes.filter((shape) => shape.type !== 'null')
    const orNull = real.length < shapes.length
    const [only] = real
    if (only && real.length === 1) return { ...pick(only, ownValues), type: withNull(only.type, orNull) }
    if (real.every((shape) => shape.children.length === 0)) {
      const values = [...ownValues, ...real.flatMap((shape) => shape.values)]
      return {
        type: withNull([...new Set(real.map((shape) => shape.type))].join(' or '), orNull),
        values,
        children: [],
      }
    }
    const children = real.map((shape, position) => ({ name: `option ${position + 1}`, required: true, ...shape }))
    return { type: withNull('one of these', orNull), children }
  }

  #merged(parts: readonly JsonSchema[], trail: readonly string[]) {
    const shapes = parts.map((part) => this.shapeOf(part, trail))
    return {
      type: shapes.find((shape) => shape.type !== 'anything')?.type ?? 'anything',
      values: shapes.flatMap((shape) => shape.values),
      children: shapes.flatMap((shape) => shape.children),
    }
  }

  #plain(schema: JsonSchemaObject, trail: readonly string[]) {
    const types = typesOf(schema)
    const orNull = types.includes('null') && types.length > 1
    const type = types.filter((one) => !orNull || one !== 'null').join(' or ')
    if (type === 'array') return this.#array(schema, trail, orNull)
    return { type: withNull(type, orNull), children: this.#properties(schema, trail) }
  }

  #array({ items, prefixItems }: JsonSchemaObject, trail: readonly string[], orNull: boolean) {
    if (prefixItems) {
      const children = prefixItems.map((item, position) => ({
        name: `[${position}]`,
        required: true,
        ...this.shapeOf(item, trail),
      }))
      return { type: withNull('array of fixed length', orNull), children }
    }
    if (items === undefined) return { type: withNull('array', orNull), children: [] }
    const item = this.shapeOf(items, trail)
    return { type: withNull(`array of ${item.type}`, orNull), children: item.children, values: item.values }
  }

  #properties(schema: JsonSchemaObject, trail: readonly string[]): SchemaNode[] {
    const named = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
      name,
      required: schema.required?.includes(name) ?? false,
      ...this.shapeOf(property, trail),
    }))
    const rest = schema.additionalProperties
    // `true` and `{}` only say that more keys are tolerated, which is true of most objects and worth no line.
    const restMatters = typeof rest === 'object' && Object.keys(rest).length > 0
    return restMatters ? [...named, { name: 'any other key', required: false, ...this.shapeOf(rest, trail) }] : named
  }
}

function pick(shape: Shape, ownValues: readonly string[]) {
  const { notes, children, values, description } = shape
  return { notes, children, values: [...ownValues, ...values], ...(description && { description }) }
}

function typesOf(schema: JsonSchemaObject): string[] {
  if (typeof schema.type === 'string') return [schema.type]
  if (schema.type) return schema.type
  if (schema.properties || schema.additionalProperties) return ['object']
  if (schema.items || schema.prefixItems) return ['array']
  const known = 'const' in schema ? [schema.const] : schema.enum
  return known ? [...new Set(known.map((value) => (value === null ? 'null' : typeof value)))] : ['anything']
}

function valuesOf(schema: JsonSchemaObject): string[] {
  if ('const' in schema) return [JSON.stringify(schema.const)]
  return (schema.enum ?? []).map((value) => JSON.stringify(value))
}

function withNull(type: string, orNull: boolean): string {
  return orNull ? `${type} or null` : type
}
