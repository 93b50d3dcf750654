/** Wrong passwords for one account. Moments are epoch seconds. */
export interface Failures {
  readonly count: number
  readonly firstAt: number
  readonly lockedUntil: number | null
}

export interface LockoutRule {
  /** 0 turns the lockout off. */
  readonly failures: number
  readonly windowSeconds: number
  readonly durationSeconds: number
}

/** Seconds the account stays locked; 0 when it is not. */
export function lockedForSeconds(failures: Failures | undefined, nowSeconds: number): number {
  return Math.max(0, (failures?.lockedUntil ?? 0) - nowSeconds)
}

/**
 * What is known after one more wrong password. Failures outside the window, and a lock that ran out, are forgotten; a lock
 * that holds is neither made longer nor lifted.
 */
export function afterFailure(before: Failures | undefined, nowSeconds: number, rule: LockoutRule): Failures {
  if (before && lockedForSeconds(before, nowSeconds) > 0) return before
  const isStale =
    before === undefined || before.lockedUntil !== null || nowSeconds - before.firstAt > rule.windowSeconds
  const count = isStale ? 1 : before.count + 1
  const firstAt = isStale ? nowSeconds : before.firstAt
  const lockedUntil = count >= rule.failures ? nowSeconds + rule.durationSeconds : null
  return { count, firstAt, lockedUntil }
}
