import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../kernel/error-code.ts'
import type { LetterKind } from '../mail.ts'

export type TemplateName = `${LetterKind}.${'subject.txt' | 'txt' | 'html'}` | 'wrapper.txt' | 'wrapper.html'

/**
 * The text of a template: the operator's own when there is a file of that name, else ours. Read for each letter: the
 * files are small, letters are rare, and a changed text then needs no restart.
 */
export async function readTemplate(
  name: TemplateName,
  { folder, complain }: { folder: string | undefined; complain: (problem: string, error: unknown) => void },
): Promise<string> {
  const own = folder === undefined ? undefined : await readOwn(join(folder, name), complain)
  return own ?? readFile(join(import.meta.dirname, name), 'utf8')
}

/** A file that is there but cannot be read must not stop the mail: people would be locked out. */
async function readOwn(path: string, complain: (problem: string, error: unknown) => void): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (!isMissing(error)) complain('it cannot be read, so the built-in text is used', error)
    return undefined
  }
}

function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR'
}
