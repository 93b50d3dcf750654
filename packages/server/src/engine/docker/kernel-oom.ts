import { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'

/** More than the kernel's longest record. */
const RECORD_BYTES = 8192
/** Between the kernel's kill and the engine's note of it. */
const TOLERANCE_MS = 3000

/**
 * Whether the kernel's log says that the container with this id had used up its memory when it ended. For engines that
 * are not told: with the old control groups, newer kernels do not. False where the log may not be read.
 */
export async function kernelSaysOutOfMemory(id: string, endedMs: number, nowMs: number): Promise<boolean> {
  const uptime = await readFile('/proc/uptime', 'utf8').catch(() => undefined)
  if (uptime === undefined) return false
  const bootMs = nowMs - Number(uptime.split(' ')[0]) * 1000
  return (await kernelLog()).some((record) => isKillOf(record, id, endedMs - bootMs))
}

/** A record is `priority,sequence,microseconds since boot,flags;text`. */
export function isKillOf(record: string, id: string, endedAfterBootMs: number): boolean {
  const [head = '', text = ''] = record.split(/;(.*)/s)
  if (!text.startsWith('oom-kill:') || !new RegExp(`oom_memcg=[^,]*${id}`).test(text)) return false
  return Math.abs(Number(head.split(',')[2]) / 1000 - endedAfterBootMs) < TOLERANCE_MS
}

/** All that the kernel still holds. Each read answers one record. */
async function kernelLog(): Promise<string[]> {
  const log = await open('/dev/kmsg', constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (!log) return []
  const records: string[] = []
  const buffer = Buffer.alloc(RECORD_BYTES)
  try {
    for (;;) {
      const { bytesRead } = await log.read(buffer, 0, RECORD_BYTES, null)
      records.push(buffer.toString('utf8', 0, bytesRead))
    }
  } catch {
    return records // no more for now; or overtaken by newer ones, in a flood that hides everything anyway
  } finally {
    await log.close()
  }
}
