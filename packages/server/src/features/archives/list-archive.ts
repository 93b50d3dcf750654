import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { archiveMembers, DESCRIPTION_NAME } from './archive-members.ts'
import { readArchive } from './packed-archive.ts'
import type { ReadBudget } from './tar/tar-reader.ts'

const LIST_FOR_MS = 30_000

/** Reads an archive through to its end and answers its `workspace.json`. Throws when any of it is not in order. */
export async function listArchive(path: string, budget: ReadBudget, clock: Clock): Promise<Buffer> {
  const tooLong = new AbortController()
  const cancel = clock.after(LIST_FOR_MS, () =>
    tooLong.abort(new AppError('archive_invalid', `The archive takes longer than ${LIST_FOR_MS / 1000} s to read`)),
  )
  let description: Buffer | undefined
  try {
    for await (const member of archiveMembers(readArchive(path, budget, tooLong.signal))) {
      if (member.kind === 'description') description = await joined(member.content)
    }
  } finally {
    cancel()
  }
  if (!description) throw new AppError('archive_invalid', `The archive holds no ${DESCRIPTION_NAME}`)
  return description
}

/** Only for what is known to be small. */
async function joined(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
