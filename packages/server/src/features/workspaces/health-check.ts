import { AppError } from '../../kernel/app-error.ts'
import type { HealthCheck } from './workspace.ts'

/** Far more than anybody waits for a check. */
const DAY_SECONDS = 86_400

/** A text stands for a check with that command; without one there is nothing to check. */
export function readHealthCheck(given: string | HealthCheck | null): HealthCheck | null {
  if (given === null || (typeof given === 'string' && given.trim() === '')) return null
  const check = typeof given === 'string' ? { command: given } : given
  const { command, interval, timeout, grace } = check
  if (command.trim() === '') throw new AppError('bad_request', 'health_check needs a command')
  if (command.includes('\0')) throw new AppError('bad_request', 'The command of health_check must not hold a NUL')
  requireSeconds('interval', interval, (seconds) => seconds > 0)
  requireSeconds('timeout', timeout, (seconds) => seconds > 0)
  requireSeconds('grace', grace, (seconds) => seconds >= 0)
  return check
}

function requireSeconds(name: string, seconds: number | undefined, fits: (seconds: number) => boolean): void {
  if (seconds === undefined || (fits(seconds) && seconds <= DAY_SECONDS)) return
  throw new AppError('bad_request', `${name} of health_check must be seconds within a day`)
}
