import { exitCodeMeanings, exitCodes } from '../../packages/server/src/process/exit-codes.ts'
import { printedFrom, table } from './markdown.ts'

export function exitCodesPage(): string {
  const { usage, configuration } = exitCodes
  const rows = Object.entries(exitCodeMeanings).map(([number, meaning]) => [number, meaning])
  return `# Exit codes

${printedFrom('the exit codes of the daemon')}

A supervisor may start \`svcd\` again after every code but ${usage} and ${configuration}: those two need a person. \`svcd --help\` prints this
table too.

${table(['Code', 'Meaning'], rows)}
`
}
