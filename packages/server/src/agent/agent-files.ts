import type { Readable } from 'node:stream'
import type { AgentMessage, FileEntry } from '@svc/protocol/agent/requests'
import { AgentError, unexpected } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { isFile, isListed } from './answer-limits.ts'
import { type AskOptions, ask, converse, tell } from './ask.ts'
import { receiveBytes } from './receive-bytes.ts'
import { type WriteOptions, writeFile } from './write-file.ts'

const MAX_ENTRIES = 100_000

export interface ReadOptions extends AskOptions {
  /** Told of each piece that the reader takes. */
  readonly moved?: (() => void) | undefined
  readonly isWhole?: ((size: number, bytes: number) => boolean) | undefined
}

/** The files of a workspace, with the rights of its user. Paths are absolute and without NUL; links are followed. */
export class AgentFiles {
  readonly #link: AgentLink

  constructor(link: AgentLink) {
    this.#link = link
  }

  /** What is in a directory, sorted by name. `AgentError` `too_many` when that is more than 100,000 entries. */
  async list(path: string, options?: AskOptions): Promise<FileEntry[]> {
    const all: FileEntry[] = []
    let isBegun = false
    let isTooMany = false
    const take = (message: AgentMessage): boolean => {
      // A directory may be empty; any other piece without entries is for nothing, and could come for ever.
      if (message.type !== 'entries' || (isBegun && message.entries.length === 0)) return false
      isBegun = true
      isTooMany = all.length + message.entries.length > MAX_ENTRIES
      if (isTooMany || !message.entries.every(isListed)) return false
      for (const entry of message.entries) all.push(entry)
      return true
    }
    try {
      await converse(this.#link, { op: 'files.list', path }, take, options)
    } catch (error) {
      throw isTooMany ? new AgentError('too_many', 'There are too many files in this directory to list them') : error
    }
    return all
  }

  async stat(path: string, options?: AskOptions): Promise<FileEntry> {
    const { entry } = await ask(this.#link, { op: 'files.stat', path }, 'stat', options)
    if (!isFile(entry)) throw unexpected()
    return entry
  }

  /**
   * Opens a file. `content` must be read to its end or destroyed; it breaks with an error when the agent stops early,
   * or `isWhole` says so, which is asked with the size and what came. Otherwise it can be longer or shorter than
   * `entry.size`: the file may be changed meanwhile. `signal` is for the opening only.
   */
  async read(path: string, options: ReadOptions = {}): Promise<{ entry: FileEntry; content: Readable }> {
    const { signal, moved, isWhole } = options
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<FileEntry>()
    let size = 0
    const content = receiveBytes(
      this.#link,
      { op: 'files.read', path },
      {
        head: (message) => {
          if (message.type !== 'stat' || !isFile(message.entry)) return false
          size = message.entry.size
          resolve(message.entry)
          return true
        },
        moved,
        isWhole: (bytes) => isWhole?.(size, bytes) ?? true,
      },
    )
    const giveUp = () => content.destroy(signal?.reason)
    signal?.addEventListener('abort', giveUp, { once: true })
    content.once('error', reject)
    try {
      return { entry: await promise, content }
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  /** A `tar.gz` of a directory, with names relative to it. Must be read to its end or destroyed. */
  archive(path: string, { moved }: Pick<ReadOptions, 'moved'> = {}): Readable {
    return receiveBytes(this.#link, { op: 'files.archive', path }, { moved })
  }

  /**
   * Puts a file in the place of whatever file is there, once all of it has arrived. When the source fails, or the agent
   * refuses, nothing is left, and the source is destroyed.
   */
  write(
    path: string,
    content: AsyncIterable<Uint8Array> | Readable,
    options?: WriteOptions,
  ): Promise<{ size: number }> {
    return writeFile(this.#link, path, content, options)
  }

  /** Never replaces anything. Parents are made. */
  rename(from: string, to: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'files.rename', from, to }, options)
  }

  /** With everything in it. */
  remove(path: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'files.remove', path }, options)
  }

  makeDirectory(path: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'files.make_directory', path }, options)
  }
}
