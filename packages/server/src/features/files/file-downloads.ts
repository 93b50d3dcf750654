import { Readable } from 'node:stream'
import { MAX_CONTENT_BYTES } from '@svc/protocol/files'
import { AgentError } from '../../agent/agent-error.ts'
import type { AgentFiles } from '../../agent/agent-files.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Origin } from '../audit/audit-entry.ts'
import { containerPath, nameIn } from './container-path.ts'
import { type DownloadBody, endlessBody, fileBody, isWholeFile } from './download-body.ts'
import { PATH_NOT_FOUND, type Refusals } from './file-refusal.ts'
import type { FileTrail } from './file-trail.ts'
import type { OpenFiles, RunningFiles } from './running-files.ts'
import { StallWatch } from './stall-watch.ts'

const NO_TEXT_FOUND = ['not_found', 'File not found or too large'] as const
const READING: Refusals = {
  not_found: NO_TEXT_FOUND,
  is_directory: NO_TEXT_FOUND,
  not_directory: NO_TEXT_FOUND,
  bad_request: NO_TEXT_FOUND, // a device, or a pipe
}
const DOWNLOADING: Refusals = { not_directory: PATH_NOT_FOUND }

/** Somebody who reads nothing for so long does not read any more. Then the workspace is rid of the open file. */
const STALL_MS = 5 * 60_000

/** What a client is told of a download before it comes. */
export interface DownloadHead {
  /** To save it under. */
  readonly fileName: string
  readonly kind: 'file' | 'archive'
  readonly length: number | undefined
}

export interface Download extends DownloadHead {
  readonly content: Buffer | Readable
}

interface FileDownloadsParts {
  readonly running: RunningFiles
  readonly trail: FileTrail
  readonly clock: Clock
}

/** Lets bytes out of workspaces. The trail has its row before the first of them is there. */
export class FileDownloads {
  readonly #parts: FileDownloadsParts

  constructor(parts: FileDownloadsParts) {
    this.#parts = parts
  }

  /** A file that is text, and not a long one. */
  async readText(origin: Origin, workspaceId: string, text: string): Promise<string> {
    const { running, trail } = this.#parts
    const path = containerPath(text)
    const bytes = await running.use(workspaceId, READING, ({ files }) => readWhole(files, path))
    const content = asText(bytes)
    await trail.record(origin, 'file.download', workspaceId, { path, size: bytes.length, via: 'content' })
    return content
  }

  async head(workspaceId: string, text: string): Promise<DownloadHead> {
    const { content, ...head } = await this.#begin(workspaceId, containerPath(text))
    if (content instanceof Readable) content.destroy()
    return head
  }

  /** A file as it is, or a directory as a `tar.gz`. `content` must be read to its end or destroyed. */
  async open(origin: Origin, workspaceId: string, text: string): Promise<Download> {
    const path = containerPath(text)
    const download = await this.#begin(workspaceId, path)
    const { content, length } = download
    try {
      const detail = { path, ...(length === undefined ? {} : { size: length }) }
      await this.#parts.trail.record(origin, 'file.download', workspaceId, detail)
    } catch (error) {
      if (content instanceof Readable) content.destroy()
      throw error
    }
    return download
  }

  #begin(workspaceId: string, path: string): Promise<Download> {
    const name = nameIn(path) || 'download'
    return this.#parts.running.use(workspaceId, DOWNLOADING, async (open) => {
      const file = await this.#watched(open, (moved) => openFile(open.files, path, moved))
      if (file) return { kind: 'file', fileName: name, ...file }
      const archive = await this.#watched(open, (moved) => endlessBody(open.files.archive(path, { moved })))
      return { kind: 'archive', fileName: `${name}.tar.gz`, ...archive }
    })
  }

  /** While bytes go out, the workspace is in use. */
  async #watched<T extends DownloadBody | undefined>(
    { touch }: OpenFiles,
    begin: (moved: () => void) => Promise<T>,
  ): Promise<T> {
    let watch: StallWatch | undefined
    const body = await begin(() => {
      touch()
      watch?.moved()
    })
    const content = body?.content
    if (content instanceof Readable) {
      const stalled = () => content.destroy(new Error('nobody reads the download any more'))
      watch = new StallWatch({ clock: this.#parts.clock, limitMs: STALL_MS, stalled })
      content.once('close', () => watch?.end())
    }
    return body
  }
}

/** Undefined for a directory. */
async function openFile(files: AgentFiles, path: string, moved: () => void): Promise<DownloadBody | undefined> {
  try {
    const { entry, content } = await files.read(path, { moved, isWhole: isWholeFile })
    return await fileBody(content, entry.size)
  } catch (error) {
    if (error instanceof AgentError && error.code === 'is_directory') return undefined
    throw error
  }
}

async function readWhole(files: AgentFiles, path: string): Promise<Buffer> {
  const { content }: { content: AsyncIterable<Uint8Array> } = await files.read(path)
  const pieces: Uint8Array[] = []
  let length = 0
  // Leaving the loop ends the request to the workspace.
  for await (const bytes of content) {
    length += bytes.length
    if (length > MAX_CONTENT_BYTES) throw new AppError(...NO_TEXT_FOUND)
    pieces.push(bytes)
  }
  return Buffer.concat(pieces)
}

/** Exactly what is in the file, its mark of byte order included, so that it can be written back. */
function asText(bytes: Buffer): string {
  try {
    if (!bytes.includes(0)) return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Answered below.
  }
  throw new AppError('file_not_text', 'The file is not text: download it instead')
}
