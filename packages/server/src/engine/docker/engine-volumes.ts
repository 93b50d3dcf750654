import { lchown, lstat } from 'node:fs/promises'
import type { z } from 'zod'
import type { Volume, VolumeStorage } from '../container-engine.ts'
import type { Owner } from '../host-homes/host-homes.ts'
import { VolumeAnswer, VolumesAnswer } from './answers.ts'
import { LABELS, onlyOurs } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import { CONFLICT, isOk, NOT_FOUND, refusal } from './refusal.ts'

interface VolumesParts {
  readonly api: EngineApi
  readonly prefix: string
  readonly instanceId: string
  /** Who root and the workspace's user are on the host; undefined when we may not give files away. */
  readonly owners: { readonly root: Owner; readonly user: Owner } | undefined
}

/** Volumes as the engine keeps them. Whose one is stands in its labels. */
export class EngineVolumes implements VolumeStorage {
  readonly #parts: VolumesParts

  constructor(parts: VolumesParts) {
    this.#parts = parts
  }

  async list(): Promise<Volume[]> {
    const { api, prefix, instanceId } = this.#parts
    const answer = await api.ask({ method: 'GET', path: `${prefix}/volumes`, query: { filters: onlyOurs(instanceId) } })
    if (!isOk(answer)) throw refusal('list volumes', answer)
    return VolumesAnswer.parse(answer.body).Volumes.flatMap((volume) => this.#ours(volume) ?? [])
  }

  async find(name: string): Promise<Volume | 'foreign' | undefined> {
    const volume = await this.#look(name)
    return volume && (this.#ours(volume) ?? 'foreign')
  }

  async create(name: string, workspaceId: string): Promise<Volume> {
    const { api, prefix, instanceId } = this.#parts
    const labels = {
      [LABELS.managed]: 'true',
      [LABELS.instance]: instanceId,
      [LABELS.volumeOwner]: workspaceId,
    }
    // Engines answer with a volume that exists as if it were new, whoever has it: so the labels are looked at.
    const body = { Name: name, Driver: 'local', Labels: labels }
    const answer = await api.ask({ method: 'POST', path: `${prefix}/volumes/create`, body, repeatable: true })
    if (!isOk(answer)) throw refusal(`make the volume ${name}`, answer)
    const volume = this.#ours(VolumeAnswer.parse(answer.body))
    if (volume?.workspaceId === workspaceId) return volume
    throw refusal(`make the volume ${name}`, { status: CONFLICT, body: { message: 'there is one of that name' } })
  }

  async remove(name: string): Promise<boolean> {
    const { api, prefix } = this.#parts
    const answer = await api.ask({ method: 'DELETE', path: `${prefix}/volumes/${encodeURIComponent(name)}` })
    if (answer.status === CONFLICT) return false
    if (isOk(answer) || answer.status === NOT_FOUND) return true
    throw refusal(`remove the volume ${name}`, answer)
  }

  /**
   * A new volume belongs to the container's root, and the workspace's user could write nothing to it. The engine
   * decides that when the container starts, so only afterwards can it be changed; and only while nobody else has it.
   */
  async giveToUser(names: readonly string[]): Promise<void> {
    const { owners } = this.#parts
    if (!owners) return
    for (const name of names) {
      const path = (await this.#look(name))?.Mountpoint
      if (path !== undefined && (await lstat(path)).uid === owners.root.uid) {
        await lchown(path, owners.user.uid, owners.user.gid)
      }
    }
  }

  async #look(name: string): Promise<z.infer<typeof VolumeAnswer> | undefined> {
    const { api, prefix } = this.#parts
    const answer = await api.ask({ method: 'GET', path: `${prefix}/volumes/${encodeURIComponent(name)}` })
    if (answer.status === NOT_FOUND) return undefined
    if (!isOk(answer)) throw refusal(`look at the volume ${name}`, answer)
    return VolumeAnswer.parse(answer.body)
  }

  #ours({ Name, Labels, CreatedAt }: z.infer<typeof VolumeAnswer>): Volume | undefined {
    const workspaceId = Labels[LABELS.volumeOwner]
    if (Labels[LABELS.instance] !== this.#parts.instanceId || workspaceId === undefined) return undefined
    return { name: Name, workspaceId, createdAt: Date.parse(CreatedAt ?? '') / 1000 || 0 }
  }
}
