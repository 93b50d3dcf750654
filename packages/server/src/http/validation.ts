import type { z } from 'zod'

/** One thing wrong with a request, in the list form of a 422 answer. */
export interface FieldProblem {
  readonly type: string
  /** `body`, `query` or `path`, then the way to the field. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** What was sent; null for the body, which may hold a password. */
  readonly input: unknown
  readonly ctx?: Readonly<Record<string, unknown>>
}

type Place = 'body' | 'query' | 'path'

/** A request that does not fit its route's schemas. Answered with 422 and every problem at once. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly problems: readonly FieldProblem[]

  constructor(problems: readonly FieldProblem[]) {
    super('The request does not fit its schema')
    this.problems = problems
  }
}

/** The parsed value, or the problems found in it. */
export function parseInput(
  schema: z.ZodType,
  place: Place,
  value: unknown,
): { value: unknown; problems: readonly FieldProblem[] } {
  const result = schema.safeParse(value)
  if (result.success) return { value: result.data, problems: [] }
  return { value: undefined, problems: result.error.issues.map((issue) => problemOf(issue, place, value)) }
}

const MISSING = { type: 'missing', msg: 'Field required' }

/** Said of a field that had to be sent. */
export const missingField = (place: Place, name: string): FieldProblem => ({
  ...MISSING,
  loc: [place, name],
  input: null,
})

function problemOf(issue: z.core.$ZodIssue, place: Place, source: unknown): FieldProblem {
  const way = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  const input = valueAt(source, way)
  return {
    ...describe(issue, input),
    loc: [place, ...way],
    input: place === 'body' ? null : (input ?? null),
  }
}

function valueAt(source: unknown, way: readonly (string | number)[]): unknown {
  let value = source
  for (const step of way) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string | number, unknown>)[step]
  }
  return value
}

/** Zod's words for a problem in the words API clients already know. */
function describe(issue: z.core.$ZodIssue, input: unknown): Pick<FieldProblem, 'type' | 'msg' | 'ctx'> {
  if (input === undefined && issue.code !== 'custom') return MISSING
  switch (issue.code) {
    case 'invalid_type':
      return typeProblem(issue.expected)
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? bound('greater_than_equal', `Input should be greater than or equal to ${issue.minimum}`, {
            ge: issue.minimum,
          })
        : bound('too_short', `Input should have at least ${issue.minimum} ${unitOf(issue.origin)}`, {
            min_length: issue.minimum,
          })
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? bound('less_than_equal', `Input should be less than or equal to ${issue.maximum}`, { le: issue.maximum })
        : bound('too_long', `Input should have at most ${issue.maximum} ${unitOf(issue.origin)}`, {
            max_length: issue.maximum,
          })
    case 'invalid_value': {
      const expected = issue.values.map((value) => `'${String(value)}'`).join(' or ')
      return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
    }
    case 'invalid_format':
      return issue.format === 'regex'
        ? { type: 'string_pattern_mismatch', msg: `String should match pattern '${issue.pattern ?? ''}'` }
        : { type: 'value_error', msg: `Value error, ${issue.message}` }
    case 'unrecognized_keys':
      return { type: 'extra_forbidden', msg: `Unknown keys: ${issue.keys.join(', ')}` }
    default:
      return { type: 'value_error', msg: `Value error, ${issue.message}` }
  }
}

function typeProblem(expected: string): Pick<FieldProblem, 'type' | 'msg'> {
  switch (expected) {
    case 'string':
      return { type: 'string_type', msg: 'Input should be a valid string' }
    case 'int':
      return { type: 'int_parsing', msg: 'Input should be a valid integer' }
    case 'number':
      return { type: 'float_parsing', msg: 'Input should be a valid number' }
    case 'boolean':
      return { type: 'bool_parsing', msg: 'Input should be a valid boolean' }
    case 'array':
      return { type: 'list_type', msg: 'Input should be a valid list' }
    default:
      return { type: `${expected}_type`, msg: `Input should be a valid ${expected}` }
  }
}

const bound = (type: string, msg: string, ctx: Record<string, unknown>) => ({ type, msg, ctx })

const unitOf = (origin: string): string => (origin === 'string' ? 'characters' : 'items')
