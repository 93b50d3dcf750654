import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises'
import type { HomeEntry } from '../home-storage.ts'
import { MAX_DEPTH } from './directory-handle.ts'
import { ExactFile } from './exact-file.ts'
import { HolesSoFar } from './holes-so-far.ts'
import { type TreeNode, treeNodes, unlessUnreadable } from './tree.ts'

const PERMISSION_BITS = 0o777
const TOO_DEEP = `it lies more than ${MAX_DEPTH} levels deep`

/** Everything in a home; sockets, pipes and devices are not part of it. */
export async function* walkHome(home: string): AsyncGenerator<HomeEntry> {
  const holes = new HolesSoFar()
  for await (const node of treeNodes(home)) {
    if (node.isTooDeep) yield { kind: 'left-out', name: nameOf(node.parts), reason: TOO_DEEP }
    else if (node.kind === 'file') yield* fileEntry(node, holes)
    else if (node.kind !== 'other') yield* otherEntry(node)
  }
}

async function* otherEntry({ kind, path, parts }: TreeNode): AsyncGenerator<HomeEntry> {
  const stats = await lstat(path).catch(unlessUnreadable)
  if (!stats) return
  const entry = { name: nameOf(parts), modifiedAt: stats.mtimeMs / 1000 }
  if (kind === 'directory' && stats.isDirectory()) {
    yield { kind, ...entry, mode: stats.mode & PERMISSION_BITS }
  } else if (kind === 'link' && stats.isSymbolicLink()) {
    const target = await readlink(path).catch(unlessUnreadable)
    if (target !== undefined) yield { kind, ...entry, target }
  }
}

async function* fileEntry({ path, parts }: TreeNode, holes: HolesSoFar): AsyncGenerator<HomeEntry> {
  // Without waiting: a name may have become a pipe, whose opening would wait for its other end.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
  const handle: FileHandle | undefined = await open(path, flags).catch(unlessUnreadable)
  if (!handle) return
  const file = new ExactFile(handle)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) return
    const name = nameOf(parts)
    if (holes.refuse(stats)) {
      yield { kind: 'left-out', name, reason: 'it is mostly holes' }
      return
    }
    yield {
      kind: 'file',
      name,
      mode: stats.mode & PERMISSION_BITS,
      modifiedAt: stats.mtimeMs / 1000,
      size: stats.size,
      open: () => file.stream(stats.size),
    }
  } finally {
    await file.close()
  }
}

/** As text. A name that is none gets replacement marks: better under another name than not at all. */
function nameOf(parts: readonly Buffer[]): string {
  return parts.map((part) => part.toString('utf8')).join('/')
}
