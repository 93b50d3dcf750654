/**
 * Does several things at once. The first failure aborts the others and is thrown, but only when all have come to an end:
 * nothing of them goes on behind the back of whoever called.
 */
export async function atOnce<const T extends readonly unknown[]>(
  signal: AbortSignal,
  begin: (signal: AbortSignal) => T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const failed = new AbortController()
  const steps = begin(AbortSignal.any([signal, failed.signal]))
  for (const step of steps) Promise.resolve(step).catch((error: unknown) => failed.abort(error))
  await Promise.allSettled(steps)
  failed.signal.throwIfAborted()
  return Promise.all(steps)
}
