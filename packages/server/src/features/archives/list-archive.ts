import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { archiveMembers, DESCRIPTION_NAME } from './archive-members.ts'
import { readArchive } from './packed-archive.ts'
import type { ReadBudget } from './tar/tar-reader.ts'
import { withinTime } from './within-time.ts'

const LIST_FOR_SECONDS = 30

/** Reads an archive through to its end and answers its `workspace.json`. Throws when any of it is not in order. */
export async function listArchive(path: string, budget: ReadBudget, clock: Clock): Promise<Buffer> {
  const description = await withinTime({ clock, seconds: LIST_FOR_SECONDS, what: 'read' }, async (signal) => {
    let found: Buffer | undefined
    for await (const member of archiveMembers(readArchive(path, budget, signal))) {
      if (member.kind === 'description') found = await joined(member.content)
    }
    return found
  })
  if (!description) throw new AppError('archive_invalid', `The archive holds no ${DESCRIPTION_NAME}`)
  return description
}

/** Only for what is known to be small. */
async function joined(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of content) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
