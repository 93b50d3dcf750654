import { lchown, lstat, mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '../../kernel/uuid.ts'
import { type HomeEntry, HomeNameRefused, type HomeStorage, type HomeWriter } from '../home-storage.ts'
import { partsOf } from './home-names.ts'
import { HostHomeWriter } from './host-home-writer.ts'
import { measureTree } from './measure-tree.ts'
import { removeTree, sweepTrash } from './remove-tree.ts'
import { walkHome } from './walk-home.ts'

/** Numbers on the host. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

interface Options {
  /** Directory of all homes: each is `<root>/<workspace id>/home`. */
  readonly root: string
  /** Whom everything in a home belongs to; undefined when we cannot give things away. */
  readonly owner: Owner | undefined
}

/** Homes as directories of this machine. */
export class HostHomes implements HomeStorage {
  readonly #root: string
  readonly #owner: Owner | undefined

  constructor({ root, owner }: Options) {
    this.#root = root
    this.#owner = owner
  }

  /** For drivers that mount it. */
  pathOf(workspaceId: string): string {
    return join(this.#directoryOf(workspaceId), 'home')
  }

  async ensure(workspaceId: string): Promise<void> {
    await mkdir(this.#directoryOf(workspaceId), { recursive: true, mode: 0o700 })
    const home = this.pathOf(workspaceId)
    await mkdir(home, { recursive: true, mode: 0o755 })
    if (!this.#owner) return
    // Also one that was there: a server that was killed may have made it, and not yet given it away.
    const { uid, gid } = this.#owner
    if ((await lstat(home)).uid !== uid) await lchown(home, uid, gid)
  }

  async remove(workspaceId: string): Promise<void> {
    await removeTree(this.#directoryOf(workspaceId), this.#trash)
  }

  async requirePlainWay(workspaceId: string, name: string): Promise<void> {
    let path = this.pathOf(workspaceId)
    for (const part of partsOf(name)) {
      path = join(path, part)
      const found = await lstat(path).catch(() => undefined)
      if (!found) return
      if (found.isSymbolicLink()) throw new HomeNameRefused(`${part} in /home/${name} is a link`)
    }
  }

  async sweep(): Promise<void> {
    await sweepTrash(this.#trash)
  }

  measure(workspaceId: string, signal: AbortSignal): Promise<number> {
    return measureTree(this.pathOf(workspaceId), signal)
  }

  async freeBytes(): Promise<number> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const { bavail, bsize } = await statfs(this.#root)
    return bavail * bsize
  }

  walk(workspaceId: string): AsyncIterable<HomeEntry> {
    return walkHome(this.pathOf(workspaceId))
  }

  writer(workspaceId: string): HomeWriter {
    return new HostHomeWriter({ home: this.pathOf(workspaceId), owner: this.#owner })
  }

  get #trash(): string {
    return join(this.#root, '.removed')
  }

  #directoryOf(workspaceId: string): string {
    // It becomes a path: nothing but a plain id may.
    if (!isUuid(workspaceId)) throw new Error(`not the id of a workspace: ${JSON.stringify(workspaceId)}`)
    return join(this.#root, workspaceId)
  }
}
