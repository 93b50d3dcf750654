import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** Levels of directories a home may have: each costs handles while a tree is walked. Beyond what other tools manage. */
export const MAX_DEPTH = 512

/**
 * A directory held open. Names in it are reached through the handle, as `openat` does, so that nothing that happens to
 * the path in the meantime can lead elsewhere.
 */
export class DirectoryHandle {
  readonly #handle: FileHandle

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Fails with `ELOOP` or `ENOTDIR` when it is a link or no directory. */
  static async open(path: string | Buffer): Promise<DirectoryHandle> {
    return new DirectoryHandle(
      await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NOCTTY),
    )
  }

  /** The directory itself, whatever it is called by now. */
  get path(): string {
    return `/proc/self/fd/${this.#handle.fd}`
  }

  /** A name in it: one part, without `/`. Only its last part may be a link, and only a call that follows links does. */
  child(name: string | Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.path}/`), Buffer.from(name)])
  }

  chmod(mode: number): Promise<void> {
    return this.#handle.chmod(mode)
  }

  chown(uid: number, gid: number): Promise<void> {
    return this.#handle.chown(uid, gid)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
