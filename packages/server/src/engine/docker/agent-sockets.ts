import { chown, constants, mkdir, open, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { isForbidden, isNotUp } from './connection-fault.ts'

/** Linux knows it everywhere; Node has no name for it. A handle of the file itself, that cannot be read or written. */
const O_PATH = 0o10000000
const SOCKET_NAME = 'agent.sock'

interface SocketsParts {
  /** For us alone. */
  readonly folder: string
  /** Who root in a container is on the host; undefined when the directories may stay ours. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
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

  /**
   * Undefined while no agent listens. The directory belongs to the container, which may put anything there: so the
   * file is held first and then looked at, and a link to another workspace's socket leads nowhere. Being reached
   * through its handle, its path may be of any length.
   */
  async connect(key: string): Promise<Socket | undefined> {
    const path = join(this.#parts.folder, key, SOCKET_NAME)
    try {
      await using file = await open(path, O_PATH | constants.O_NOFOLLOW)
      if (!(await file.stat()).isSocket()) return undefined
      return await connected(`/proc/self/fd/${file.fd}`)
    } catch (error) {
      // Without root on the host, the socket is ours only once the agent has given it to us.
      if (isNotUp(error) || isForbidden(error)) return undefined
      throw error
    }
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
