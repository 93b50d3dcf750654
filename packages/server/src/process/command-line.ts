import { parseArgs } from 'node:util'

/** What the command line asks for. */
export type Command =
  | { readonly name: 'serve'; readonly config: string | undefined }
  | { readonly name: 'settings'; readonly config: string | undefined }
  | { readonly name: 'doctor'; readonly config: string | undefined; readonly json: boolean }
  | { readonly name: 'backup'; readonly config: string | undefined; readonly file: string }
  | { readonly name: 'help' }

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv)
  if (values.help) return { name: 'help' }
  const [name, ...rest] = positionals
  const { config, json = false } = values
  if (json && name !== 'doctor') throw new UsageError('--json is for doctor')
  if (name === 'backup' && rest.length === 1 && rest[0]) return { name, config, file: rest[0] }
  if (name === 'backup') throw new UsageError('backup takes the name of the file to write')
  if (rest.length > 0) throw new UsageError(`unexpected: ${rest.join(' ')}`)
  if (name === undefined) return { name: 'serve', config }
  if (name === 'settings') return { name, config }
  if (name === 'doctor') return { name, config, json }
  throw new UsageError(`there is no command ${name}`)
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
