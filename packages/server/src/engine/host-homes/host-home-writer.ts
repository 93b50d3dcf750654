import { constants } from 'node:fs'
import { lchown, link, lstat, mkdir, open, symlink, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '../../kernel/error-code.ts'
import { HomeNameRefused, type HomeWriter } from '../home-storage.ts'
import { DirectoryHandle } from './directory-handle.ts'
import { DiskSync } from './disk-sync.ts'
import { checkTarget, partsOf } from './home-names.ts'
import type { Owner } from './host-homes.ts'
import { treeNodes } from './tree.ts'

/** Never setuid, setgid or sticky: nothing that comes in an archive gets a power by its mode. */
const PERMISSION_BITS = 0o777
/** A directory stays open to its owner, or nothing could be put into it or removed from it. */
const OWNER_BITS = 0o700

interface Options {
  readonly home: string
  readonly owner: Owner | undefined
}

/** Writes through handles of directories only, each opened as a real directory: no name can lead out of the home. */
export class HostHomeWriter implements HomeWriter {
  readonly #home: string
  readonly #owner: Owner | undefined
  /** Made at the end. */
  readonly #links = new Map<string, string>()
  readonly #disk = new DiskSync()
  /** The directory of the last entry: entries of one directory mostly come together. */
  #current: { readonly path: string; readonly directory: DirectoryHandle } | undefined

  constructor({ home, owner }: Options) {
    this.#home = home
    this.#owner = owner
  }

  async directory(name: string, mode: number): Promise<void> {
    const parts = this.#check(name)
    const directory = await this.#enter(parts)
    await directory.chmod((mode & PERMISSION_BITS) | OWNER_BITS)
  }

  async file(name: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = await this.#place(name)
    const handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      for await (const chunk of content) await writeAll(handle, chunk)
      if (this.#owner) await handle.chown(this.#owner.uid, this.#owner.gid)
      // Last, because giving a file away may change its mode.
      await handle.chmod(mode & PERMISSION_BITS)
    } catch (error) {
      await handle.close()
      throw error
    }
    await this.#disk.add(handle)
  }

  async link(name: string, target: string): Promise<void> {
    this.#check(name)
    checkTarget(name, target)
    this.#links.set(name, target)
  }

  async hardLink(name: string, target: string): Promise<void> {
    this.#check(name)
    const refused = new HomeNameRefused(`${name}: there is no file ${target} to link to`)
    const targetParts = this.#check(target)
    if (this.#links.has(target)) throw refused
    // Held on its own: finding the place of the new name may let go of the current directory.
    const from = await this.#openExisting(targetParts.slice(0, -1))
    if (!from) throw refused
    try {
      const file = from.child(targetParts.at(-1) ?? '')
      const stats = await lstat(file).catch(unlessMissing)
      if (!stats?.isFile()) throw refused
      if (name === target) return
      await link(file, await this.#place(name))
    } finally {
      await from.close()
    }
  }

  async finish(): Promise<void> {
    try {
      for (const [name, target] of this.#links) {
        const path = await this.#place(name, { asLink: true })
        await symlink(target, path)
        if (this.#owner) await lchown(path, this.#owner.uid, this.#owner.gid)
      }
      this.#links.clear()
      await this.#syncDirectories()
      await this.#disk.done()
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    await this.#leave()
    await this.#disk.closed()
  }

  async #leave(): Promise<void> {
    const { directory } = this.#current ?? {}
    this.#current = undefined
    await directory?.close()
  }

  /** A name is on the disk once its directory is: each of the home, and the two that lead to a new one. */
  async #syncDirectories(): Promise<void> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
    const sync = async (path: string | Buffer) => this.#disk.add(await open(path, flags))
    for await (const { kind, path } of treeNodes(this.#home)) if (kind === 'directory') await sync(path)
    for (const path of [this.#home, dirname(this.#home), dirname(dirname(this.#home))]) await sync(path)
  }

  #check(name: string): string[] {
    const parts = partsOf(name)
    for (let end = 1; end < parts.length; end++) {
      const parent = parts.slice(0, end).join('/')
      if (this.#links.has(parent)) throw new HomeNameRefused(`${name}: passes through the link ${parent}`)
    }
    return parts
  }

  /** A path at which nothing is: what was there is taken away, unless it is a directory. */
  async #place(name: string, { asLink = false } = {}): Promise<Buffer> {
    const parts = this.#check(name)
    const directory = await this.#enter(parts.slice(0, -1))
    if (!asLink) this.#links.delete(name)
    const path = directory.child(parts.at(-1) ?? '')
    await unlink(path).catch((error) => {
      if (errorCode(error) === 'EISDIR' || errorCode(error) === 'EPERM') {
        throw new HomeNameRefused(`${name}: there is a directory of this name`, { cause: error })
      }
      return unlessMissing(error)
    })
    return path
  }

  /** The directory of this name, made where it is missing. Stays open until the next call. */
  async #enter(parts: readonly string[]): Promise<DirectoryHandle> {
    const path = parts.join('/')
    if (this.#current?.path === path) return this.#current.directory
    await this.#leave()
    const directory = await this.#descend(parts, (parent, name) => this.#make(parent, name))
    this.#current = { path, directory }
    return directory
  }

  async #openExisting(parts: readonly string[]): Promise<DirectoryHandle | undefined> {
    return this.#descend(parts, async () => undefined).catch(unlessMissing)
  }

  async #descend(
    parts: readonly string[],
    prepare: (parent: DirectoryHandle, name: string) => Promise<void>,
  ): Promise<DirectoryHandle> {
    let directory = await DirectoryHandle.open(this.#home)
    for (const [index, name] of parts.entries()) {
      const parent = directory
      try {
        await prepare(parent, name)
        directory = await DirectoryHandle.open(parent.child(name))
      } catch (error) {
        throw noDirectory(parts.slice(0, index + 1).join('/'), error)
      } finally {
        await parent.close()
      }
    }
    return directory
  }

  async #make(parent: DirectoryHandle, name: string): Promise<void> {
    const path = parent.child(name)
    try {
      await mkdir(path, 0o755)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return
      throw error
    }
    // Ours since this moment, in a directory nobody else writes while a home is filled.
    if (this.#owner) await lchown(path, this.#owner.uid, this.#owner.gid)
  }
}

async function writeAll(
  handle: { write(bytes: Uint8Array): Promise<{ bytesWritten: number }> },
  chunk: Uint8Array,
): Promise<void> {
  for (let rest = chunk; rest.length > 0; ) {
    const { bytesWritten } = await handle.write(rest)
    rest = rest.subarray(bytesWritten)
  }
}

function noDirectory(name: string, error: unknown): unknown {
  const isOther = errorCode(error) === 'ELOOP' || errorCode(error) === 'ENOTDIR'
  return isOther ? new HomeNameRefused(`${name} is not a directory`, { cause: error }) : error
}

function unlessMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error
}
