import type { FileEntry } from '@svc/protocol/agent/requests'
import { AgentError } from '../../agent/agent-error.ts'
import type { AgentFiles } from '../../agent/agent-files.ts'
import type { Origin } from '../audit/audit-entry.ts'
import { containerPath, pathIn } from './container-path.ts'
import { PATH_NOT_FOUND, type Refusals } from './file-refusal.ts'
import type { FileTrail } from './file-trail.ts'
import type { RunningFiles } from './running-files.ts'

const LISTING: Refusals = { not_directory: ['bad_request', 'Not a directory'] }
const RENAMING: Refusals = { not_found: ['not_found', 'Source not found'] }
const REMOVING: Refusals = { not_directory: PATH_NOT_FOUND }

/** A file or directory, and where it is. */
export interface ListedFile extends FileEntry {
  readonly path: string
}

/**
 * Looks at the files of workspaces and changes them, without their bytes. The row of a change is written when it is
 * done, be it in part, so that the trail tells what happened; one that cannot be written fails the request.
 */
export class WorkspaceFiles {
  readonly #running: RunningFiles
  readonly #trail: FileTrail

  constructor(parts: { running: RunningFiles; trail: FileTrail }) {
    this.#running = parts.running
    this.#trail = parts.trail
  }

  /** Sorted by name. */
  async list(workspaceId: string, text: string): Promise<ListedFile[]> {
    const path = containerPath(text)
    const entries = await this.#running.use(workspaceId, LISTING, ({ files }) => files.list(path))
    return entries.map((entry) => ({ ...entry, path: pathIn(path, entry.name) }))
  }

  /** Answers the new path. */
  async rename(origin: Origin, workspaceId: string, texts: { from: string; to: string }): Promise<string> {
    const [from, path] = [containerPath(texts.from), containerPath(texts.to)]
    const record = (more?: { incomplete: true }) =>
      this.#trail.record(origin, 'file.write', workspaceId, { path, from, ...more })
    await this.#running.use(workspaceId, RENAMING, async ({ files }) => {
      try {
        await files.rename(from, path)
      } catch (error) {
        // To another disk it is a copy, and then a deletion.
        if (await isInPart(error, async () => (await find(files, path)) !== undefined))
          await record({ incomplete: true })
        throw error
      }
    })
    await record()
    return path
  }

  /** Answers its path. */
  async makeDirectory(origin: Origin, workspaceId: string, text: string): Promise<string> {
    const path = containerPath(text)
    await this.#running.use(workspaceId, {}, ({ files }) => files.makeDirectory(path))
    await this.#trail.record(origin, 'file.write', workspaceId, { path })
    return path
  }

  /** With everything in it. Answers its path. */
  async remove(origin: Origin, workspaceId: string, text: string): Promise<string> {
    const path = containerPath(text)
    const record = (more?: { incomplete: true }) =>
      this.#trail.record(origin, 'file.delete', workspaceId, { path, ...more })
    await this.#running.use(workspaceId, REMOVING, async ({ files }) => {
      try {
        await files.remove(path)
      } catch (error) {
        // Of a directory something may be left, and the rest gone.
        if (await isInPart(error, async () => (await find(files, path))?.is_dir ?? true))
          await record({ incomplete: true })
        throw error
      }
    })
    await record()
    return path
  }
}

/** These are found out before anything is done. */
const UNTOUCHED: readonly AgentError['code'][] = ['not_found', 'bad_request', 'exists']

/** Whether what failed was perhaps begun: then the trail has to tell of it. What cannot be found out counts as that. */
async function isInPart(error: unknown, look: () => Promise<boolean>): Promise<boolean> {
  if (error instanceof AgentError && UNTOUCHED.includes(error.code)) return false
  return look().catch(() => true)
}

async function find(files: AgentFiles, path: string): Promise<FileEntry | undefined> {
  try {
    return await files.stat(path)
  } catch (error) {
    if (error instanceof AgentError && error.code === 'not_found') return undefined
    throw error
  }
}
