import { VOLUME_NAME } from '@svc/protocol/volumes'
import { type ContainerEngine, EngineError, type Volume, type VolumeStorage } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import { FifoLock } from '../../storage/fifo-lock.ts'
import type { Storage } from '../../storage/storage.ts'
import { type AuditEntry, BY_ITSELF, type Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { joinWorkspaces, pageOf, type VolumeInUse, type VolumeView } from './volume-list.ts'
import type { VolumeStore } from './volume-store.ts'

interface VolumesParts {
  readonly storage: Storage
  readonly store: VolumeStore
  readonly engine: Pick<ContainerEngine, 'supports' | 'volumes'>
  readonly workspaces: Pick<Workspaces, 'require'>
  readonly audit: Pick<AuditLog, 'record'>
  /** Volumes one workspace may own; 0 for any number. */
  readonly quotaPerWorkspace: () => number
}

/** Disks that outlive containers, each for one workspace. The engine keeps them; whose they are stands in their labels. */
export class Volumes {
  readonly #parts: VolumesParts
  /** Held by who makes or removes one: engines count and compare nothing for us. */
  readonly #turns = new FifoLock()

  constructor(parts: VolumesParts) {
    this.#parts = parts
  }

  async list(view: VolumeView): Promise<{ volumes: VolumeInUse[]; total: number }> {
    if (!this.#parts.engine.supports.volumes) return { volumes: [], total: 0 }
    return pageOf(await this.#withWorkspaces(await this.#ask((volumes) => volumes.list())), view)
  }

  async create(origin: Origin, wanted: { name: string; workspaceId: string }): Promise<VolumeInUse> {
    const { name, workspaceId } = wanted
    await this.#parts.workspaces.require(workspaceId)
    this.#requireSupport()
    const volume = await this.#inTurn(async () => {
      const existing = await this.#ask((volumes) => volumes.find(name))
      if (existing === 'foreign') {
        throw new AppError('conflict', `The name '${name}' is taken by a volume that is not of this server`)
      }
      if (existing) throw new AppError('conflict', `Volume '${name}' already exists`)
      await this.#requireRoom(workspaceId)
      return this.#make(origin, { name, workspaceId }, { workspace_id: workspaceId })
    })
    const [joined] = await this.#withWorkspaces([volume])
    return joined ?? { ...volume, workspace: null, mountedBy: [] }
  }

  async delete(origin: Origin, name: string): Promise<void> {
    this.#requireSupport()
    await this.#inTurn(async () => {
      const volume = await this.#ask((volumes) => volumes.find(name))
      if (!volume || volume === 'foreign') throw new AppError('not_found', 'Volume not found')
      if (!(await this.#ask((volumes) => volumes.remove(name)))) throw new AppError('conflict', 'Volume is in use')
      // Afterwards, and not in one transaction with it: emptying a large disk would hold up everybody who writes.
      await this.#record(origin, about('volume.delete', name, { workspace_id: volume.workspaceId }))
    })
  }

  /** Sees to it, before a start, that each of the volumes is there and is this workspace's own. */
  async ensureFor(workspace: Pick<Workspace, 'id'>, names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    this.#requireSupport()
    for (const name of new Set(names)) {
      if (!VOLUME_NAME.test(name)) throw new AppError('bad_request', `'${name}' cannot be the name of a volume`)
      await this.#inTurn(() => this.#ensure(workspace.id, name))
    }
  }

  async #ensure(workspaceId: string, name: string): Promise<void> {
    const volume = await this.#ask((volumes) => volumes.find(name))
    if (volume === 'foreign') {
      throw new AppError('bad_request', `Volume '${name}' belongs to no workspace of this server and cannot be mounted`)
    }
    if (volume && volume.workspaceId !== workspaceId) {
      throw new AppError('bad_request', `Volume '${name}' belongs to another workspace`)
    }
    if (volume) return
    await this.#requireRoom(workspaceId)
    await this.#make(BY_ITSELF, { name, workspaceId }, { workspace_id: workspaceId, via: 'start' })
  }

  async #requireRoom(workspaceId: string): Promise<void> {
    const quota = this.#parts.quotaPerWorkspace()
    if (quota === 0) return
    const all = await this.#ask((volumes) => volumes.list())
    const owned = all.filter((volume) => volume.workspaceId === workspaceId)
    if (owned.length < quota) return
    throw new AppError(
      'volume_quota_reached',
      `This workspace has ${owned.length} of ${quota} volumes (SVCD_VOLUME_QUOTA_PER_WORKSPACE): delete a volume first`,
    )
  }

  /** A volume that could not be recorded is not there either. */
  async #make(
    origin: Origin,
    { name, workspaceId }: { name: string; workspaceId: string },
    detail: Readonly<Record<string, unknown>>,
  ): Promise<Volume> {
    const volume = await this.#ask((volumes) => volumes.create(name, workspaceId))
    try {
      await this.#record(origin, about('volume.create', name, detail))
    } catch (error) {
      await this.#ask((volumes) => volumes.remove(name))
      throw error
    }
    return volume
  }

  #record(origin: Origin, entry: AuditEntry): Promise<void> {
    const { storage, audit } = this.#parts
    return storage.transaction((tx) => audit.record(tx, origin, entry))
  }

  async #withWorkspaces(volumes: readonly Volume[]): Promise<VolumeInUse[]> {
    const { storage, store } = this.#parts
    const ids = volumes.map(({ workspaceId }) => workspaceId)
    const [ownerNames, mounting] = await Promise.all([store.names(storage.db, ids), store.mounting(storage.db)])
    return joinWorkspaces(volumes, { ownerNames, mounting })
  }

  /** An engine that is away comes back; whoever asked may ask again. */
  async #ask<T>(question: (volumes: VolumeStorage) => Promise<T>): Promise<T> {
    try {
      return await question(this.#parts.engine.volumes)
    } catch (error) {
      if (!(error instanceof EngineError) || error.fault !== 'unavailable') throw error
      throw new AppError('unavailable', 'The container engine does not answer', { cause: error })
    }
  }

  #requireSupport(): void {
    if (this.#parts.engine.supports.volumes) return
    throw new AppError('bad_request', 'The container engine of this server has no volumes')
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#turns.acquire()
    return work().finally(release)
  }
}

function about(event: AuditEntry['event'], name: string, detail: Readonly<Record<string, unknown>>): AuditEntry {
  return { event, targetType: 'volume', targetId: name, detail }
}
