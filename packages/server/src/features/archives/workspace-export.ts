import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { pipeline as pipelineDone } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import type { HomeStorage } from '../../engine/home-storage.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { aboutWorkspace } from '../workspaces/workspace-audit.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { describeWorkspace } from './archive-description.ts'
import { DESCRIPTION_NAME, HOME_NAME, LEFT_OUT_NAME } from './archive-members.ts'
import { LeftOutList } from './left-out-list.ts'
import { inLargerPieces } from './tar/in-larger-pieces.ts'
import { type TarMember, writeTar } from './tar/tar-writer.ts'

const MEASURE_FOR_MS = 10_000
/** What is left of a home once packed, as a rule of thumb. */
const PACKED_SHARE = 0.2
/** Packed piece by piece, each off the event loop; larger ones cost memory, smaller ones time. */
const PIECE_BYTES = 128 * 1024
const UNFINISHED = '.part'

interface WorkspaceExportParts {
  readonly storage: Storage
  readonly workspaces: Pick<Workspaces, 'require'>
  readonly homes: Pick<HomeStorage, 'measure' | 'walk'>
  readonly audit: Pick<AuditLog, 'record'>
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Logger
}

interface ArchiveOrder {
  readonly workspaceId: string
  /** As `describe` gave it. */
  readonly description: string
  /** Breaks it off; nothing is left of it then. */
  readonly signal: AbortSignal
}

/** What a client is told of an archive before it comes. */
export interface ArchiveHead {
  readonly fileName: string
  /** A guess: nobody packs it twice to know. */
  readonly estimatedBytes: number
}

/** Makes archives of workspaces, running ones too: what changes meanwhile comes as it is found. */
export class WorkspaceExport {
  readonly #parts: WorkspaceExportParts

  constructor(parts: WorkspaceExportParts) {
    this.#parts = parts
  }

  /** Before the first `archiveTo` of this run: removes what interrupted ones left in the folder. */
  async begin(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true })
    }
  }

  async head(workspaceId: string): Promise<ArchiveHead> {
    return this.#headOf(await this.#parts.workspaces.require(workspaceId))
  }

  /** The audit trail has it before the first byte is there. Nothing is read before somebody reads `content`. */
  async open(origin: Origin, workspaceId: string): Promise<ArchiveHead & { readonly content: Readable }> {
    const { storage, workspaces, audit } = this.#parts
    const workspace = await workspaces.require(workspaceId)
    const head = await this.#headOf(workspace)
    const detail = { path: head.fileName, size: head.estimatedBytes }
    await storage.transaction((tx) => audit.record(tx, origin, aboutWorkspace('file.download', workspaceId, detail)))
    return { ...head, content: this.#pack(workspaceId, this.describe(workspace)) }
  }

  /** The text of `workspace.json`. */
  describe(workspace: Workspace): string {
    return JSON.stringify(describeWorkspace(workspace, this.#parts.instanceId), null, 2)
  }

  /**
   * Writes the archive of a home to a file that only we can read. It has its name once it is complete. The workspace
   * itself may be gone, so its description is handed in.
   */
  async archiveTo(file: string, { workspaceId, description, signal }: ArchiveOrder): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    const unfinished = `${file}.${randomUUID()}${UNFINISHED}`
    try {
      await pipelineDone(
        this.#pack(workspaceId, description),
        createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true }),
        { signal },
      )
      await rename(unfinished, file)
      await syncDirectory(dirname(file))
    } finally {
      await rm(unfinished, { force: true })
    }
  }

  async #headOf({ id, name }: Workspace): Promise<ArchiveHead> {
    const { homes, clock } = this.#parts
    const enough = new AbortController()
    const cancel = clock.after(MEASURE_FOR_MS, () => enough.abort())
    const bytes = await homes.measure(id, enough.signal).finally(cancel)
    return {
      fileName: `${name.replaceAll('/', '_')}.tar.gz`,
      estimatedBytes: Math.max(1, Math.floor(bytes * PACKED_SHARE)),
    }
  }

  #pack(workspaceId: string, description: string): Readable {
    // The fastest level: a person waits for it, and a higher one gains some percent for several times the work.
    const packed = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: PIECE_BYTES })
    const bytes = inLargerPieces(writeTar(this.#members(workspaceId, description)), PIECE_BYTES)
    pipeline(bytes, packed, (error) => {
      // Whoever reads it goes away without its end, so that nobody takes it for complete.
      if (error && !isGoneReader(error)) {
        this.#parts.log.error('a workspace could not be packed', { error, workspace_id: workspaceId })
      }
    })
    return packed
  }

  async *#members(workspaceId: string, description: string): AsyncGenerator<TarMember> {
    const { homes, clock } = this.#parts
    const modifiedAt = clock.nowMs() / 1000
    yield textMember(DESCRIPTION_NAME, description, modifiedAt)
    yield { kind: 'directory', name: HOME_NAME, mode: 0o755, modifiedAt }
    const leftOut = new LeftOutList()
    for await (const entry of homes.walk(workspaceId)) {
      if (entry.kind === 'left-out') leftOut.add(entry)
      else yield { ...entry, name: `${HOME_NAME}/${entry.name}` }
    }
    const list = leftOut.text()
    if (list !== undefined) yield textMember(LEFT_OUT_NAME, list, modifiedAt)
  }
}

function textMember(name: string, text: string, modifiedAt: number): TarMember {
  const bytes = Buffer.from(text)
  return { kind: 'file', name, mode: 0o600, modifiedAt, size: bytes.length, open: () => once(bytes) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const isGoneReader = (error: NodeJS.ErrnoException): boolean =>
  error.code === 'ERR_STREAM_PREMATURE_CLOSE' || error.code === 'ABORT_ERR'

/** A new name is only in its directory, which is written by itself. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}
