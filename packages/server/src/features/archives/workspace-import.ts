import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CreateWorkspace } from '@svc/protocol/workspaces'
import type { HomeStorage } from '../../engine/home-storage.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { IncomingFile, Upload } from '../../kernel/upload.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { FifoLock } from '../../storage/fifo-lock.ts'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { aboutWorkspace } from '../workspaces/workspace-audit.ts'
import type { ConfigurationRules } from '../workspaces/workspace-configuration.ts'
import { nameTaken, requireName } from '../workspaces/workspace-name.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { readDescription, type WrittenDescription } from './archive-description.ts'
import { fillHome } from './fill-home.ts'
import { importedConfiguration } from './imported-configuration.ts'
import { listArchive } from './list-archive.ts'
import { UnpackBudget } from './unpack-budget.ts'
import { withinTime } from './within-time.ts'

const MB = 1024 * 1024
/** What a form may have around its file. */
const FORM_BYTES = MB
const SUFFIX = '.tar.gz'
const UNPACK_FOR_SECONDS = 300

interface WorkspaceImportParts {
  readonly workspaces: Pick<Workspaces, 'find' | 'ownedBy'>
  readonly operations: {
    /** Makes the rows of a workspace under an id whose home is there already. */
    create(
      caller: Caller,
      wanted: CreateWorkspace,
      request: RequestFacts,
      options: { readonly via: 'import'; readonly id: string; readonly after: readonly AuditEntry[] },
    ): Promise<Workspace>
  }
  readonly rules: Pick<ConfigurationRules, 'defaults' | 'read' | 'requireOffered'>
  readonly homes: HomeStorage
  readonly settings: () => { readonly fileUploadMaxBytes: number; readonly importMaxUncompressedMb: number | undefined }
  readonly instanceId: string
  /** Where uploads wait; nothing else may be kept there. */
  readonly folder: string
  readonly clock: Clock
  readonly log: Logger
}

/** An archive as it was uploaded. */
interface UploadedArchive {
  readonly path: string
  readonly name: string
  readonly bytes: number
}

/**
 * Makes workspaces from archives. The upload waits in a file; it is read through once before anything is made of it,
 * then the home is filled, and only then is there a workspace: nobody ever sees half of one. The file carries the id
 * of the workspace to be, so that the next start can remove what an interrupted import left.
 */
export class WorkspaceImport {
  readonly #parts: WorkspaceImportParts
  /** One at a time is unpacked: several would each count on the same free space. */
  readonly #unpacking = new FifoLock()

  constructor(parts: WorkspaceImportParts) {
    this.#parts = parts
  }

  /** Before the first import: removes what interrupted ones left. */
  async begin(): Promise<void> {
    const { folder, homes, workspaces } = this.#parts
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const name of await readdir(folder)) {
      const id = basename(name, SUFFIX)
      if (isUuid(id) && !(await workspaces.find(id))) await homes.remove(id)
      await rm(join(folder, name), { recursive: true, force: true })
    }
  }

  /** `name` is for clients that do not send it in the form. The caller becomes the owner. */
  async import(caller: Caller, upload: Upload, name: string | undefined, request: RequestFacts): Promise<Workspace> {
    const { folder } = this.#parts
    if ((upload.announcedBytes ?? 0) > this.#parts.settings().fileUploadMaxBytes + FORM_BYTES) throw this.#tooLarge()
    const id = randomUUID()
    const path = join(folder, `${id}${SUFFIX}`)
    try {
      const { fields, file } = await upload.receiveForm('file', (incoming) => this.#keep(incoming, path))
      const chosenName = fields.get('name')?.trim() || name?.trim() || undefined
      return await this.#fromArchive(caller, { id, archive: file, chosenName, request })
    } finally {
      await rm(path, { force: true })
    }
  }

  async #keep({ name, content }: IncomingFile, path: string): Promise<UploadedArchive> {
    const max = this.#parts.settings().fileUploadMaxBytes
    let bytes = 0
    const counted = async function* (this: WorkspaceImport, chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > max) throw this.#tooLarge()
        yield chunk
      }
    }
    await pipeline(content, counted.bind(this), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    return { path, name, bytes }
  }

  async #fromArchive(
    caller: Caller,
    wanted: { id: string; archive: UploadedArchive; chosenName: string | undefined; request: RequestFacts },
  ): Promise<Workspace> {
    const { rules, instanceId, homes, operations, clock } = this.#parts
    const { id, archive, request } = wanted
    const description = readDescription(await listArchive(archive.path, await this.#budget(), clock), instanceId)
    const name = requireName(wanted.chosenName ?? nameIn(description))
    const configuration = await importedConfiguration(description, rules)
    // Looked at again when it counts; here it only saves the work.
    if ((await this.#parts.workspaces.ownedBy(caller.userId)).some((own) => own.name === name)) throw nameTaken(name)
    try {
      await this.#unpack(id, archive.path)
      const uploaded = aboutWorkspace('file.upload', id, { path: archive.name, size: archive.bytes })
      const making = { via: 'import', id, after: [uploaded] } as const
      return await operations.create(caller, { ...configuration, name }, request, making)
    } catch (error) {
      await homes.remove(id)
      throw error
    }
  }

  async #unpack(id: string, path: string): Promise<void> {
    const { homes, clock, log } = this.#parts
    const release = await this.#unpacking.acquire()
    try {
      const budget = await this.#budget()
      await withinTime({ clock, seconds: UNPACK_FOR_SECONDS, what: 'unpack' }, (signal) =>
        fillHome(homes, id, { path, budget, signal, log }),
      )
    } finally {
      release()
    }
  }

  async #budget(): Promise<UnpackBudget> {
    const freeBytes = await this.#parts.homes.freeBytes()
    return new UnpackBudget({ freeBytes, maxMb: this.#parts.settings().importMaxUncompressedMb })
  }

  #tooLarge(): AppError {
    const mb = Number((this.#parts.settings().fileUploadMaxBytes / MB).toFixed(2))
    return new AppError('archive_too_large', `Archive exceeds ${mb} MB limit`)
  }
}

function nameIn({ name }: WrittenDescription): string {
  if (typeof name === 'string' && name.trim() !== '') return name
  throw new AppError('archive_invalid', 'Neither the request nor the archive has a name for the workspace')
}
