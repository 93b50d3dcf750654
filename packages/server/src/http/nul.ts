import { AppError } from '../kernel/app-error.ts'
import { InvalidRequest } from './validation.ts'

// Not every database can hold or compare a NUL character, and no text of a person has one. So it is refused wherever a
// request can bring text, and nothing behind the edge has to think of it.

const SENTENCE = 'The request must not hold a NUL character'

/** The only way to write it in JSON. An even number of backslashes before it is text about backslashes. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u0000/

const IN_BODY = new InvalidRequest([
  { type: 'value_error', loc: ['body'], msg: `Value error, ${SENTENCE}`, input: null },
])

export const nulInJson = (text: string): InvalidRequest | undefined => (ESCAPED.test(text) ? IN_BODY : undefined)

export const nulInUrl = (url: string): AppError | undefined =>
  url.includes('%00') ? new AppError('bad_request', SENTENCE) : undefined
