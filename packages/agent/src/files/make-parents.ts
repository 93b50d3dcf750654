import { mkdir, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoOf, RequestError } from '../request-error.ts'

/** Makes the directories that lead to a path. The answer takes back those that it made, as far as they are empty. */
export async function makeParents(path: string): Promise<() => Promise<void>> {
  const parent = dirname(path)
  const firstMade = await mkdir(parent, { recursive: true }).catch((error: unknown) => {
    throw errnoOf(error) === 'EEXIST' ? new RequestError('not_directory', `${parent} is not a directory`) : error
  })
  return async () => {
    if (firstMade === undefined) return
    for (let made = parent; made.length >= firstMade.length; made = dirname(made)) {
      // Somebody else may have put something there, or taken it away.
      const isTaken = await rmdir(made).then(
        () => false,
        () => true,
      )
      if (isTaken) return
    }
  }
}
