import { chown, mkdir, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { connectToAgent } from '../agent-socket.ts'
import type { Owner } from '../host-homes/host-homes.ts'

interface SocketsParts {
  /** For us alone. */
  readonly folder: string
  /** Who root in a container is on the host; undefined when the directories may stay ours. */
  readonly owner: Owner | undefined
}

/** The host's end of the directories in which agents make their sockets: one for each container, by its key. */
export class AgentSockets {
  readonly #parts: SocketsParts

  constructor(parts: SocketsParts) {
    this.#parts = parts
  }

  /** An empty directory to mount into a new container. What an earlier one left is gone. */
  async prepare(key: string): Promise<string> {
    const { folder, owner } = this.#parts
    const path = join(folder, key)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await rm(path, { recursive: true, force: true })
    await mkdir(path, { mode: 0o700 })
    if (owner) await chown(path, owner.uid, owner.gid)
    return path
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.#parts.folder, key), { recursive: true, force: true })
  }

  /** Undefined while no agent listens. */
  connect(key: string): Promise<Socket | undefined> {
    return connectToAgent(join(this.#parts.folder, key))
  }
}
