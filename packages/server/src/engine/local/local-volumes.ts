import { chown, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { VOLUME_NAME } from '@svc/protocol/volumes'
import { z } from 'zod'
import type { Clock } from '../../kernel/clock.ts'
import { EngineError, type Volume, type VolumeStorage } from '../container-engine.ts'
import type { Owner } from '../host-homes/host-homes.ts'
import { removeTree } from '../host-homes/remove-tree.ts'

const VolumeFile = z.object({ workspaceId: z.string(), createdAt: z.number() })

interface Parts {
  readonly root: string
  readonly owner: Owner | undefined
  readonly clock: Clock
  /** Names of volumes that running workspaces hold. */
  readonly inUse: () => Promise<ReadonlySet<string>>
}

/** Volumes as directories: `<root>/<name>/content`, with a file beside that says whose it is. */
export class LocalVolumes implements VolumeStorage {
  readonly #root: string
  readonly #owner: Owner | undefined
  readonly #clock: Clock
  readonly #inUse: Parts['inUse']

  constructor({ root, owner, clock, inUse }: Parts) {
    this.#root = root
    this.#owner = owner
    this.#clock = clock
    this.#inUse = inUse
  }

  async list(): Promise<Volume[]> {
    const names = await readdir(this.#root).catch(() => [])
    const volumes = await Promise.all(names.map((name) => this.find(name)))
    return volumes.filter((volume) => volume !== undefined)
  }

  async find(name: string): Promise<Volume | undefined> {
    if (!VOLUME_NAME.test(name)) return undefined
    const text = await readFile(join(this.#root, name, 'volume.json'), 'utf8').catch(() => undefined)
    const facts = text === undefined ? undefined : VolumeFile.safeParse(JSON.parse(text)).data
    return facts && { name, ...facts }
  }

  async create(name: string, workspaceId: string): Promise<Volume> {
    if (!VOLUME_NAME.test(name)) throw new EngineError('failed', 'a volume cannot have this name')
    const existing = await this.find(name)
    if (existing) throw new EngineError('failed', `there is a volume ${name} already`)
    const facts = { workspaceId, createdAt: Math.floor(this.#clock.nowMs() / 1000) }
    await mkdir(this.pathOf(name), { recursive: true, mode: 0o755 })
    if (this.#owner) await chown(this.pathOf(name), this.#owner.uid, this.#owner.gid)
    // Last, and at once: a volume is there when its file is.
    const file = join(this.#root, name, 'volume.json')
    await writeFile(`${file}.new`, JSON.stringify(facts), { mode: 0o600 })
    await rename(`${file}.new`, file)
    return { name, ...facts }
  }

  async remove(name: string): Promise<boolean> {
    if (!VOLUME_NAME.test(name)) return true
    if ((await this.#inUse()).has(name)) return false
    await removeTree(join(this.#root, name), join(this.#root, '.removed'))
    return true
  }

  /** For the mount. */
  pathOf(name: string): string {
    return join(this.#root, name, 'content')
  }
}
