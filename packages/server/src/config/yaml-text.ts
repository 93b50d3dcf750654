import { LineCounter, parseDocument } from 'yaml'
import { InvalidValue } from './invalid-value.ts'

/**
 * Reads YAML, and so JSON. A refusal names the place but shows no content: the line may hold a password.
 * Whole numbers come as `bigint`, so that a setting can tell `8080` from `8080.0` and `1e3`.
 */
export function parseYaml(text: string): unknown {
  const lineCounter = new LineCounter()
  // The level keeps the library from printing its own warnings, which quote the content.
  const document = parseDocument(text, { prettyErrors: false, lineCounter, intAsBigInt: true, logLevel: 'error' })
  // What the library only warns about, such as a tag it does not know, gives a value nobody meant.
  const [error] = [...document.errors, ...document.warnings]
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    const fault = error.code.toLowerCase().replaceAll('_', ' ')
    throw new InvalidValue(`is not valid YAML: ${fault} in line ${line}, column ${col}`)
  }
  try {
    return document.toJS()
  } catch {
    // The only fault left after parsing, and its message would quote the content.
    throw new InvalidValue('is not valid YAML: an alias (*) cannot be followed; text that starts with * needs quotes')
  }
}
