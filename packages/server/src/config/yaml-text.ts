import { LineCounter, parseDocument } from 'yaml'
import { InvalidValue } from './invalid-value.ts'

/** Reads YAML, and so JSON. A refusal names the place but shows no content: the line may hold a password. */
export function parseYaml(text: string): unknown {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { prettyErrors: false, lineCounter })
  const [error] = document.errors
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0])
    const fault = error.code.toLowerCase().replaceAll('_', ' ')
    throw new InvalidValue(`is not valid YAML: ${fault} in line ${line}, column ${col}`)
  }
  try {
    return document.toJS()
  } catch {
    // The only fault left after parsing, and its message would quote the content.
    throw new InvalidValue('is not valid YAML: an alias (*) without its anchor (&); put the value in quotes')
  }
}
