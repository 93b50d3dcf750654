import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, type Stats, unlinkSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname } from 'node:path'
import { errnoOf } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'

/**
 * A name in a directory where everybody may write, at which `server` listens for the user of the workspace alone. The
 * socket is made where nobody else can go and moved to its place when it is closed to others. So there is no moment in
 * which they could connect, and whatever lay in the place is replaced, not followed.
 */
export class PrivateSocket {
  readonly path: string
  readonly #identity: Stats

  private constructor(path: string, identity: Stats) {
    this.path = path
    this.#identity = identity
  }

  static async bind(server: Server, path: string): Promise<PrivateSocket> {
    const draftDirectory = `${dirname(path)}/.svc-${uniqueId()}`
    const draft = `${draftDirectory}/socket`
    mkdirSync(draftDirectory, { mode: 0o700 })
    try {
      server.listen(draft)
      await once(server, 'listening')
      chmodSync(draft, 0o600)
      clear(path)
      const identity = lstatSync(draft)
      renameSync(draft, path)
      return new PrivateSocket(path, identity)
    } finally {
      rmSync(draftDirectory, { recursive: true, force: true })
    }
  }

  /** Leaves the place alone when something else has taken it. */
  remove(): void {
    const found = lstatSync(this.path, { throwIfNoEntry: false })
    if (found?.ino === this.#identity.ino && found.dev === this.#identity.dev) rmSync(this.path, { force: true })
  }
}

/** Before the move, which would do it too, so that a refusal speaks of this path. */
function clear(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) === 'EISDIR') rmdirSync(path)
    else if (errnoOf(error) !== 'ENOENT') throw error
  }
}
