import { readFile, stat, statfs } from 'node:fs/promises'
import { availableMemory } from '../lifecycle/memory-available.ts'

/** How full a filesystem is, as `df` counts: what only root may use does not count as free. */
export async function filesystemUsage(path: string): Promise<{ device: number; usagePercent: number }> {
  const [{ dev }, { blocks, bfree, bavail }] = await Promise.all([stat(path), statfs(path)])
  const used = blocks - bfree
  const usable = used + bavail
  return { device: dev, usagePercent: usable === 0 ? 0 : (100 * used) / usable }
}

/** How much of the memory could not be had without swapping; undefined where the kernel does not say. */
export async function memoryUsagePercent(): Promise<number | undefined> {
  const available = await availableMemory()
  return available && 100 * (1 - available.fraction)
}

/** Share of the last minute in which some process waited for a processor; undefined where the kernel does not say. */
export async function cpuPressurePercent(): Promise<number | undefined> {
  const text = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '')
  const percent = Number(/^some .*avg60=([\d.]+)/m.exec(text)?.[1] ?? Number.NaN)
  return Number.isFinite(percent) ? percent : undefined
}
