/** Keeps a map that grows by one at a time from growing without end: the entry that was set first goes. */
export function dropOldest<K>(map: Map<K, unknown>, maxSize: number): void {
  if (map.size <= maxSize) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}
