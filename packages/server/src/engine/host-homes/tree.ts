import { lstat } from 'node:fs/promises'
import { errorCode } from '../../kernel/error-code.ts'
import { DirectoryHandle, MAX_DEPTH } from './directory-handle.ts'
import { type DirectoryEntry, entriesOf } from './entries-of.ts'

export type NodeKind = 'directory' | 'file' | 'link' | 'other'

/** Something in a tree. `path` reaches it while it is the current one, through a handle of its directory. */
export interface TreeNode {
  readonly kind: NodeKind
  readonly path: Buffer
  /** Names from the root down; bytes, because names in a workspace need not be text. */
  readonly parts: readonly Buffer[]
  /** It lies deeper than we follow; what is in it is not shown. */
  readonly isTooDeep: boolean
}

interface Level {
  readonly directory: DirectoryHandle
  readonly entries: AsyncIterator<DirectoryEntry>
  readonly parts: readonly Buffer[]
}

/**
 * Everything below `root`, parents before their content, following no link. Holds one open directory for each level and
 * never a whole listing. What vanishes meanwhile, or may not be read, is left out.
 */
export async function* treeNodes(root: string): AsyncGenerator<TreeNode> {
  const levels: Level[] = []
  const descend = async (path: string | Buffer, parts: readonly Buffer[]): Promise<void> => {
    const directory = await DirectoryHandle.open(path).catch(unlessUnreadable)
    if (directory) levels.push({ directory, entries: entriesOf(directory.path), parts })
  }
  try {
    await descend(root, [])
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const next = await level.entries.next()
      if (next.done) {
        await levels.pop()?.directory.close()
        continue
      }
      const path = level.directory.child(next.value.name)
      const parts = [...level.parts, next.value.name]
      const node = { kind: await kindOf(next.value, path), path, parts, isTooDeep: parts.length > MAX_DEPTH }
      yield node
      if (node.kind === 'directory' && !node.isTooDeep) await descend(path, parts)
    }
  } finally {
    for (const { directory, entries } of levels.reverse()) {
      await entries.return?.()
      await directory.close()
    }
  }
}

async function kindOf(entry: DirectoryEntry, path: Buffer): Promise<NodeKind> {
  const known = kindIn(entry.type)
  if (known) return known
  // Some file systems do not tell it with the name.
  const stats = await lstat(path).catch(unlessUnreadable)
  return (stats && kindIn(stats)) ?? 'other'
}

function kindIn(entry: DirectoryEntry['type']): NodeKind | undefined {
  if (entry.isDirectory()) return 'directory'
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'link' : undefined
}

const leftOut = new Set(['ENOENT', 'EACCES', 'ELOOP', 'ENOTDIR', 'ESTALE', 'ENXIO', 'ENODEV'])

/** Undefined for what is gone, became something else, or is closed to us. */
export function unlessUnreadable(error: unknown): undefined {
  if (!leftOut.has(errorCode(error) ?? '')) throw error
}
