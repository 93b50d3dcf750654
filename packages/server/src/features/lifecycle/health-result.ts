import type { HealthCheck } from '../workspaces/workspace.ts'

export interface HealthTimes {
  readonly healthCheckIntervalSeconds: number
  readonly healthCheckStartupGraceSeconds: number
  readonly healthCheckTimeoutSeconds: number
}

export interface CheckPlan {
  readonly command: string
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly graceMs: number
}

/** What a workspace says of its check itself comes before what the server says. */
export function planOf(check: HealthCheck, server: HealthTimes): CheckPlan {
  return {
    command: check.command,
    intervalMs: 1000 * (check.interval ?? server.healthCheckIntervalSeconds),
    timeoutMs: 1000 * (check.timeout ?? server.healthCheckTimeoutSeconds),
    graceMs: 1000 * (check.grace ?? server.healthCheckStartupGraceSeconds),
  }
}

export const sameCheck = (one: HealthCheck | null, other: HealthCheck | null): boolean =>
  one?.command === other?.command &&
  one?.interval === other?.interval &&
  one?.timeout === other?.timeout &&
  one?.grace === other?.grace

const TAIL_BYTES = 512

/** Null for a check that succeeded. `code` is null for one that took too long. */
export function healthMessage(result: { code: number | null; output: string }, timeoutMs: number): string | null {
  if (result.code === 0) return null
  const tail = tailOf(result.output.trim())
  const what = result.code === null ? `timed out after ${timeoutMs / 1000} s` : `exited ${result.code}`
  return tail === '' ? what : `${what}: ${tail}`
}

/** Never begins with half a character. */
function tailOf(text: string): string {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= TAIL_BYTES) return text
  let start = bytes.length - TAIL_BYTES
  while (start < bytes.length && isContinuation(bytes[start] ?? 0)) start++
  return bytes.subarray(start).toString('utf8')
}

const isContinuation = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000
