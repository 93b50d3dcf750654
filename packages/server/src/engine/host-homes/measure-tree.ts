import { lstat } from 'node:fs/promises'
import { treeNodes, unlessUnreadable } from './tree.ts'

/** What `st_blocks` counts, whatever the file system's own blocks are. */
const STAT_BLOCK_BYTES = 512

/** Bytes that a tree takes on disk, as far as they could be counted until `signal` aborts. */
export async function measureTree(root: string, signal: AbortSignal): Promise<number> {
  // A file with several names takes its bytes once.
  const counted = new Set<string>()
  let blocks = (await lstat(root).catch(unlessUnreadable))?.blocks ?? 0
  for await (const { path } of treeNodes(root)) {
    if (signal.aborted) break
    const stats = await lstat(path).catch(unlessUnreadable)
    if (!stats) continue
    if (stats.nlink > 1 && !stats.isDirectory()) {
      const identity = `${stats.dev}:${stats.ino}`
      if (counted.has(identity)) continue
      counted.add(identity)
    }
    blocks += stats.blocks
  }
  return blocks * STAT_BLOCK_BYTES
}
