import type { FileEntry } from '@svc/protocol/agent/requests'
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
 * done, so that the trail tells what happened; one that cannot be written fails the request.
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
    await this.#running.use(workspaceId, RENAMING, ({ files }) => files.rename(from, path))
    await this.#trail.record(origin, 'file.write', workspaceId, { path, from })
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
    await this.#running.use(workspaceId, REMOVING, ({ files }) => files.remove(path))
    await this.#trail.record(origin, 'file.delete', workspaceId, { path })
    return path
  }
}
