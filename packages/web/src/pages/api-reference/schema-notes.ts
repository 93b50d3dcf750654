import type { JsonSchemaObject } from '@svc/client/openapi'

/** zod prints the bounds of a safe integer on every integer; they tell a reader nothing. */
const isTold = (bound: number) => Math.abs(bound) < Number.MAX_SAFE_INTEGER

/** Bounds, format and default of a schema, each a few words. */
export function schemaNotes(schema: JsonSchemaObject): string[] {
  const number = (keyword: string, words: (bound: number) => string) => {
    const bound = schema[keyword]
    return typeof bound === 'number' && isTold(bound) ? [words(bound)] : []
  }
  const text = (keyword: string, words: (value: string) => string) => {
    const value = schema[keyword]
    return typeof value === 'string' ? [words(value)] : []
  }
  return [
    // A pattern beside a format only spells the format out.
    ...text('format', (format) => format),
    ...(schema.format === undefined ? text('pattern', (pattern) => `matches ${pattern}`) : []),
    ...number('minimum', (bound) => `at least ${bound}`),
    ...number('exclusiveMinimum', (bound) => `more than ${bound}`),
    ...number('maximum', (bound) => `at most ${bound}`),
    ...number('exclusiveMaximum', (bound) => `less than ${bound}`),
    ...number('minLength', (bound) => `at least ${count(bound, 'character')}`),
    ...number('maxLength', (bound) => `at most ${count(bound, 'character')}`),
    ...number('minItems', (bound) => `at least ${count(bound, 'item')}`),
    ...number('maxItems', (bound) => `at most ${count(bound, 'item')}`),
    ...('default' in schema ? [`default ${JSON.stringify(schema.default)}`] : []),
  ]
}

function count(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`
}
