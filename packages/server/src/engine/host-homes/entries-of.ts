import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'

/** An entry of a directory. Its name is bytes: names in a workspace need not be text. */
export interface DirectoryEntry {
  readonly name: Buffer
  readonly type: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>
}

/** The entries of a directory as they are read; never all of them at once. */
export async function* entriesOf(path: string): AsyncGenerator<DirectoryEntry> {
  // Latin 1 has a letter for every byte, so the way there and back changes nothing.
  for await (const entry of await opendir(path, { encoding: 'latin1' })) {
    yield { name: Buffer.from(entry.name, 'latin1'), type: entry }
  }
}
