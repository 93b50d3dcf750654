import { lstatSync, type Stats, statSync } from 'node:fs'
import { readdir, stat as statFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { FileEntry } from '@svc/protocol/agent/requests'

/** What stands in a text for bytes that are none. */
const NO_TEXT = '\ufffd'
/** Others get their turn after so long. */
const TURN_MS = 2
interface NoThrow {
  readonly throwIfNoEntry: false
}
const NO_THROW: NoThrow = { throwIfNoEntry: false }
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
  const entries = await lookUpAll(await placesIn(path))
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (let from = 0; from < entries.length; from += ENTRIES_PER_MESSAGE) {
    yield entries.slice(from, from + ENTRIES_PER_MESSAGE)
  }
}

interface Place {
  readonly name: string
  readonly path: string | Buffer
}

/** A name can be any bytes. One that is no text has a mark in it, and is found again only by its bytes. */
async function placesIn(folder: string): Promise<Place[]> {
  const names = await readdir(folder)
  if (!names.some((name) => name.includes(NO_TEXT))) return names.map((name) => ({ name, path: `${folder}/${name}` }))
  const prefix = Buffer.from(`${folder}/`)
  const bytes = await readdir(folder, { encoding: 'buffer' })
  return bytes.map((name) => ({ name: name.toString(), path: Buffer.concat([prefix, name]) }))
}

/**
 * One after the other on the event loop, in short turns: a look at a file takes the system two microseconds, and
 * handing it to another thread and back takes ten times that. `readdir` was not done so: it is what waits for a slow disk.
 */
async function lookUpAll(places: readonly Place[]): Promise<FileEntry[]> {
  const entries: FileEntry[] = []
  let turnEndsMs = performance.now() + TURN_MS
  for (const { name, path } of places) {
    const entry = lookUp(path, name)
    if (entry) entries.push(entry)
    if (performance.now() < turnEndsMs) continue
    await setImmediate()
    turnEndsMs = performance.now() + TURN_MS
  }
  return entries
}

/** Undefined for what vanished meanwhile. What cannot be followed, as a link that leads nowhere, is a file of no size. */
function lookUp(path: string | Buffer, name: string): FileEntry | undefined {
  const followed = statOrNothing(path, statSync)
  if (followed) return entryOf(name, followed)
  const link = statOrNothing(path, lstatSync)
  return link && { ...entryOf(name, link), is_dir: false, size: 0 }
}

function statOrNothing(
  path: string | Buffer,
  look: (path: string | Buffer, options: NoThrow) => Stats | undefined,
): Stats | undefined {
  try {
    return look(path, NO_THROW)
  } catch {
    return undefined // a circle of links, or a directory that must not be entered
  }
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
