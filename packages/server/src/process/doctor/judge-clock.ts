import { error, type Finding, ok, warning } from './check.ts'

const FIRST_YEAR = 2025
const LAST_YEAR = 2100

/** Tokens, certificates and second factors all depend on the time. `isSynchronised` is undefined when nobody can say. */
export function judgeClock(nowMs: number, isSynchronised: boolean | undefined): Finding {
  const now = new Date(nowMs)
  const year = now.getUTCFullYear()
  if (year < FIRST_YEAR || year > LAST_YEAR) {
    return error(`it says ${now.toISOString()}`, 'Set it, and keep it right: apt-get install systemd-timesyncd')
  }
  if (isSynchronised === false) {
    return warning('it is not kept right over the network', 'Install a time service: apt-get install systemd-timesyncd')
  }
  return ok(isSynchronised ? 'right, and kept so over the network' : 'the time is believable')
}
