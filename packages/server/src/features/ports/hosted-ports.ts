import { AppError } from '../../kernel/app-error.ts'
import { FifoLock } from '../../storage/fifo-lock.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { isFreePort } from './free-port.ts'
import type { PortStore } from './port-store.ts'

const LAST_PORT = 65_535

export interface HostedPortSettings {
  readonly portRangeStart: number
  /** 0 turns hosting off. */
  readonly portsPerWorkspace: number
}

/** Gives workspaces ports of the host for the applications they host. A workspace keeps its own while it can. */
export class HostedPorts {
  readonly #storage: Storage
  readonly #store: PortStore
  readonly #settings: () => HostedPortSettings
  readonly #isFree: (port: number) => Promise<boolean>
  /** Looking for free ports and writing them down is one step: between the two nobody else may look. */
  readonly #lock = new FifoLock()

  constructor(parts: {
    storage: Storage
    store: PortStore
    settings: () => HostedPortSettings
    isFree?: (port: number) => Promise<boolean>
  }) {
    this.#storage = parts.storage
    this.#store = parts.store
    this.#settings = parts.settings
    this.#isFree = parts.isFree ?? isFreePort
  }

  /** In rising order: the first leads to the container's port 8000, the next to 8001. */
  find(workspaceId: string): Promise<number[]> {
    return this.#store.of(this.#storage.db, workspaceId)
  }

  /** Gives the workspace as many ports as it should have by now, and answers them. */
  reconcile(workspace: Pick<Workspace, 'id' | 'numPorts'>): Promise<number[]> {
    const wanted = Math.min(workspace.numPorts, this.#settings().portsPerWorkspace)
    return this.#change(workspace.id, (present) => present.slice(0, Math.max(wanted, 0)), wanted)
  }

  /** After the engine found one of them taken: replaces those that another program listens on. */
  replaceTaken(workspaceId: string): Promise<number[]> {
    return this.#change(workspaceId, async (present) => {
      const free = await Promise.all(present.map((port) => this.#isFree(port)))
      return present.filter((_, index) => free[index])
    })
  }

  async #change(
    workspaceId: string,
    keepOf: (present: number[]) => number[] | Promise<number[]>,
    count?: number,
  ): Promise<number[]> {
    const release = await this.#lock.acquire()
    try {
      const present = await this.find(workspaceId)
      const kept = await keepOf(present)
      const missing = (count ?? present.length) - kept.length
      if (missing <= 0 && kept.length === present.length) return present
      const take = present.filter((port) => !kept.includes(port))
      const give = missing > 0 ? await this.#look(missing, new Set(take)) : []
      await this.#storage.transaction((tx) => this.#store.change(tx, workspaceId, { give, take }))
      return [...kept, ...give].toSorted((a, b) => a - b)
    } finally {
      release()
    }
  }

  /** The first ports that no workspace has and no program listens on. */
  async #look(count: number, unwanted: ReadonlySet<number>): Promise<number[]> {
    const { portRangeStart } = this.#settings()
    const given = new Set(await this.#store.from(this.#storage.db, portRangeStart))
    const found: number[] = []
    for (let port = portRangeStart; port <= LAST_PORT && found.length < count; port++) {
      if (!given.has(port) && !unwanted.has(port) && (await this.#isFree(port))) found.push(port)
    }
    if (found.length < count) {
      throw new AppError('unavailable', `No port from ${portRangeStart} on is free for hosted applications`)
    }
    return found
  }
}
