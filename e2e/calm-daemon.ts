import { startDaemon } from '@svc/server/testing/start-daemon'

/** Thresholds no test machine reaches, so that health depends on the test alone. */
const CALM = {
  SVCD_CPU_WATCHDOG_ENABLED: 'false',
  SVCD_MEMORY_WATCHDOG_ENABLED: 'false',
  SVCD_DISK_WATCHDOG_WARN_PERCENT: '99.8',
  SVCD_DISK_WATCHDOG_CRITICAL_PERCENT: '99.9',
}

/** Thresholds every disk is above. */
export const SHORT_OF_DISK = {
  SVCD_DISK_WATCHDOG_WARN_PERCENT: '0.01',
  SVCD_DISK_WATCHDOG_CRITICAL_PERCENT: '0.02',
}

/** The real daemon on a machine that is short of nothing. */
export function startCalmDaemon(folder: string, env: Record<string, string> = {}) {
  return startDaemon(folder, { ...CALM, ...env })
}
