import { lstat, type Stats, stat } from 'node:fs'
import { readdir, stat as statFile } from 'node:fs/promises'
import type { FileEntry } from '@svc/protocol/agent/requests'

/** Looked up at once: enough to keep the system busy, few enough to leave room for others. */
const PARALLEL = 64
/** In one message: names are at most 255 bytes, escaped six times that, so this stays below what a frame can hold. */
const ENTRIES_PER_MESSAGE = 500

/** What is at a path, as it is listed. Links are followed. */
export async function readEntry(path: string): Promise<FileEntry> {
  return entryOf(nameOf(path), await statFile(path))
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || '/'
}

/** The content of a directory, sorted by name, in lists that fit a message. */
export async function* listDirectory(path: string): AsyncGenerator<FileEntry[]> {
  // As bytes: a name can be anything, and one that is no text must be found again.
  const names = await readdir(path, { encoding: 'buffer' })
  const entries = await lookUpAll(path, names)
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (let from = 0; from < entries.length; from += ENTRIES_PER_MESSAGE) {
    yield entries.slice(from, from + ENTRIES_PER_MESSAGE)
  }
}

/** With callbacks: for so many small steps, promises cost as much again as the steps themselves. */
function lookUpAll(folder: string, names: readonly Buffer[]): Promise<FileEntry[]> {
  return new Promise((resolve) => {
    const entries: FileEntry[] = []
    const prefix = Buffer.from(`${folder}/`)
    let next = 0
    let running = 0
    const startMore = () => {
      while (running < PARALLEL && next < names.length) {
        const name = names[next++] ?? Buffer.alloc(0)
        running++
        lookUp(Buffer.concat([prefix, name]), name.toString(), (entry) => {
          running--
          if (entry) entries.push(entry)
          startMore()
        })
      }
      if (running === 0) resolve(entries)
    }
    startMore()
  })
}

/** Undefined for what vanished meanwhile. What cannot be followed, as a link that leads nowhere, is a file of no size. */
function lookUp(path: Buffer, name: string, done: (entry: FileEntry | undefined) => void): void {
  stat(path, (error, stats) => {
    if (!error) done(entryOf(name, stats))
    else lstat(path, (gone, link) => done(gone ? undefined : { ...entryOf(name, link), is_dir: false, size: 0 }))
  })
}

export function entryOf(name: string, stats: Stats): FileEntry {
  const isDirectory = stats.isDirectory()
  return {
    name,
    is_dir: isDirectory,
    size: isDirectory ? 0 : stats.size,
    mtime: stats.mtimeMs / 1000,
    ctime: stats.ctimeMs / 1000,
  }
}
