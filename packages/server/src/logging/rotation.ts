import { renameSync, unlinkSync } from 'node:fs'
import { errorCode } from '../kernel/error-code.ts'

export type RotationPeriod = 'hourly' | 'daily' | 'weekly' | 'monthly'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Days from the Monday before 1 January 1970, a Thursday. */
const DAYS_SINCE_MONDAY = 3

/** Numbers the periods, in UTC: two moments are in the same period when their numbers are equal. */
export function periodNumber(period: RotationPeriod, timeMs: number): number {
  switch (period) {
    case 'hourly':
      return Math.floor(timeMs / HOUR_MS)
    case 'daily':
      return Math.floor(timeMs / DAY_MS)
    case 'weekly':
      return Math.floor((Math.floor(timeMs / DAY_MS) + DAYS_SINCE_MONDAY) / 7)
    case 'monthly': {
      const date = new Date(timeMs)
      return date.getUTCFullYear() * 12 + date.getUTCMonth()
    }
  }
}

/** Moves `path` to `path.1`, `.1` to `.2` and so on, keeping `backupCount` of them; the rest are removed. */
export function shiftBackups(path: string, backupCount: number): void {
  for (let number = backupCount; number >= 1; number--) {
    ifPresent(() => renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`))
  }
  // More than one only after the setting was lowered.
  let surplus = backupCount + 1
  while (ifPresent(() => unlinkSync(`${path}.${surplus}`))) surplus++
}

function ifPresent(act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}
