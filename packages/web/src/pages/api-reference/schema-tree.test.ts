import type { JsonSchema } from '@svc/client/openapi'
import { expect, test } from 'vitest'
import { type SchemaNode, schemaTree } from './schema-tree.ts'

const document = {
  components: {
    schemas: {
      Mount: { type: 'object', description: 'A folder', properties: { path: { type: 'string' } }, required: ['path'] },
      Tree: {
        type: 'object',
        properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
      },
    },
  },
}

/** A tree as indented text, so that a test shows what a reader would see. */
function print(node: SchemaNode, depth = 0): string {
  const { name, type, required, values, notes, children } = node
  const line = [name, type, name && !required && 'optional', ...values, ...notes].filter(Boolean).join(' ')
  return ['  '.repeat(depth) + line, ...children.map((child) => print(child, depth + 1))].join('\n')
}

const cases: { why: string; schema: JsonSchema; tree: string }[] = [
  {
    why: 'properties show whether they must be sent',
    schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
    tree: 'object\n  a string\n  b integer optional',
  },
  {
    why: 'an array shows what is inside',
    schema: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
    tree: 'array of object\n  a string',
  },
  {
    why: 'a fixed array shows each place',
    schema: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
    tree: 'array of fixed length\n  [0] string\n  [1] number',
  },
  { why: 'a list of types may include null', schema: { type: ['string', 'null'] }, tree: 'string or null' },
  {
    why: 'a choice with null is the other thing, or null',
    schema: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    tree: 'integer or null at least 1',
  },
  {
    why: 'a choice of simple types is one line',
    schema: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    tree: 'string or integer or null',
  },
  {
    why: 'a choice with an object lists its options',
    schema: { oneOf: [{ type: 'string' }, { $ref: '#/components/schemas/Mount' }] },
    tree: 'one of these\n  option 1 string\n  option 2 object\n    path string',
  },
  {
    why: 'parts that apply together are one object',
    schema: { allOf: [{ $ref: '#/components/schemas/Mount' }, { type: 'object', properties: { b: true } }] },
    tree: 'object\n  path string\n  b anything optional',
  },
  { why: 'an enum shows its values', schema: { enum: ['a', 'b', null] }, tree: 'string or null "a" "b" null' },
  { why: 'a constant is its only value', schema: { const: 3 }, tree: 'number 3' },
  {
    why: 'free keys have a line when their values have a shape',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    tree: 'object\n  any other key string optional',
  },
  {
    why: 'tolerated keys have none',
    schema: { type: 'object', properties: {}, additionalProperties: {} },
    tree: 'object',
  },
  {
    why: 'a schema that contains itself ends',
    schema: { $ref: '#/components/schemas/Tree' },
    tree: 'object\n  children array of Tree, as above optional',
  },
  { why: 'a reference to nothing keeps its name', schema: { $ref: '#/components/schemas/Gone' }, tree: 'Gone' },
  {
    why: 'bounds and defaults are told, those of a safe integer are not',
    schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
    tree: 'integer at least 0 default 0',
  },
  {
    why: 'a format hides the pattern that spells it out',
    schema: { type: 'string', format: 'uuid', pattern: '^[0-9a-f]+$', minLength: 1 },
    tree: 'string uuid at least 1 character',
  },
  { why: 'an empty schema is anything', schema: {}, tree: 'anything' },
]

test.each(cases)('$why', ({ schema, tree }) => {
  expect(print(schemaTree(document, schema))).toBe(tree)
})

test('what is said beside a reference is about this use of it', () => {
  const ref = '#/components/schemas/Mount'
  expect(schemaTree(document, { $ref: ref }).description).toBe('A folder')
  expect(schemaTree(document, { $ref: ref, description: 'Home' }).description).toBe('Home')
})
