import { HomeNameRefused, type HomeStorage, type HomeWriter } from '../../engine/home-storage.ts'
import { AppError } from '../../kernel/app-error.ts'
import { errorCode } from '../../kernel/error-code.ts'
import type { Logger } from '../../kernel/logger.ts'
import { type ArchiveMember, archiveMembers } from './archive-members.ts'
import { readArchive } from './packed-archive.ts'
import type { ReadBudget } from './tar/tar-reader.ts'

const DISK_IS_FULL = ['ENOSPC', 'EDQUOT']

/** Unpacks an archive into a new home. When it fails, what was written stays: whoever asked removes the whole home. */
export async function fillHome(
  homes: HomeStorage,
  workspaceId: string,
  { path, budget, signal, log }: { path: string; budget: ReadBudget; signal: AbortSignal; log: Logger },
): Promise<void> {
  await homes.ensure(workspaceId)
  const writer = homes.writer(workspaceId)
  try {
    for await (const member of archiveMembers(readArchive(path, budget, signal))) await write(writer, member)
    await writer.finish()
  } catch (error) {
    await writer.close()
    throw refusalOf(error, log)
  }
}

async function write(writer: HomeWriter, member: ArchiveMember): Promise<void> {
  switch (member.kind) {
    case 'directory':
      return writer.directory(member.name, member.mode)
    case 'file':
      return writer.file(member.name, member.mode, member.content)
    case 'link':
      return writer.link(member.name, member.target)
    case 'hard link':
      return writer.hardLink(member.name, member.target)
    case 'description':
      return
  }
}

function refusalOf(error: unknown, log: Logger): unknown {
  if (error instanceof AppError) return error
  if (error instanceof HomeNameRefused) {
    return new AppError('archive_invalid', `The archive cannot be unpacked: ${error.message}`)
  }
  if (DISK_IS_FULL.includes(errorCode(error) ?? '')) {
    return new AppError('archive_too_large', 'The disk of this server is full')
  }
  log.error('the home of an archive could not be unpacked', { error })
  return new AppError('archive_invalid', 'The home in the archive cannot be unpacked on this server')
}
