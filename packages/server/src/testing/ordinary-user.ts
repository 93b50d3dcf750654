/** The number of `nobody` on every Linux we know; any number without rights would do. */
const NOBODY = 65_534

/** Does `work` as somebody whom file modes bind: root, who often runs the tests, may read and write everything. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(NOBODY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
