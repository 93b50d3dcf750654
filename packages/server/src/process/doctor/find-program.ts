import { constants } from 'node:fs'
import { access } from 'node:fs/promises'

const DIRECTORIES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Where the system keeps a program; the search path of whoever asks often leaves out those for administrators. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const directory of DIRECTORIES) {
    const path = `${directory}/${name}`
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return undefined
}
