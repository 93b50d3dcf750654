import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Clock } from '../../kernel/clock.ts'
import { readText } from '../../kernel/read-text.ts'

/** More than the kernel's longest record. */
const RECORD_BYTES = 8192
/** Between the kernel's kill and the engine's note of it. */
const TOLERANCE_MS = 3000
/** More than a kernel's log of the usual size holds. */
const MOST_RECORDS = 50_000
const MOST_MS = 2000

/**
 * Whether the kernel's log says that the container with this id had used up its memory when it ended. For engines that
 * are not told: with the old control groups, newer kernels do not. False where the log may not be read.
 */
export async function kernelSaysOutOfMemory(
  id: string,
  endedMs: number,
  clock: Clock,
  path = '/dev/kmsg',
): Promise<boolean> {
  const uptime = Number.parseFloat(await readText('/proc/uptime'))
  const log = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined)
  if (!log) return false
  const bootMs = clock.nowMs() - uptime * 1000
  try {
    for await (const record of records(log, clock)) if (isKillOf(record, id, endedMs - bootMs)) return true
    return false
  } finally {
    await log.close()
  }
}

/** A record is `priority,sequence,microseconds since boot,flags;text`. */
export function isKillOf(record: string, id: string, endedAfterBootMs: number): boolean {
  const [head = '', text = ''] = record.split(/;(.*)/s)
  if (!text.startsWith('oom-kill:') || !new RegExp(`oom_memcg=[^,]*${id}`).test(text)) return false
  return Math.abs(Number(head.split(',')[2]) / 1000 - endedAfterBootMs) < TOLERANCE_MS
}

/** All that the kernel still holds. Each read answers one record; a log that is not the kernel's may never end. */
async function* records(log: FileHandle, clock: Clock): AsyncGenerator<string> {
  const buffer = Buffer.alloc(RECORD_BYTES)
  const giveUpMs = clock.nowMs() + MOST_MS
  for (let count = 0; count < MOST_RECORDS && clock.nowMs() < giveUpMs; count++) {
    // It fails when there are no more for now; or overtaken by newer ones, in a flood that hides everything anyway.
    const bytes = await log.read(buffer, 0, RECORD_BYTES, null).catch(() => undefined)
    if (!bytes?.bytesRead) return
    yield buffer.toString('utf8', 0, bytes.bytesRead)
  }
}
