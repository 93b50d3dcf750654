import { parseArgs } from 'node:util'
import { containerPlaces, type Places } from './places.ts'

/** Reads the command line. Throws for one that cannot be understood. */
export function readArguments(args: readonly string[]): Places {
  const { values } = parseArgs({
    args: [...args],
    options: {
      socket: { type: 'string', default: containerPlaces.socket },
      homes: { type: 'string', default: containerPlaces.homes },
      runtime: { type: 'string', default: containerPlaces.runtime },
      'user-id': { type: 'string', default: String(containerPlaces.userId) },
    },
  })
  const userId = Number(values['user-id'])
  if (!Number.isInteger(userId) || userId < 0) throw new Error('--user-id must be a number')
  return { socket: values.socket, homes: values.homes, runtime: values.runtime, userId }
}
