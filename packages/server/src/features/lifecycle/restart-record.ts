import type { DeathCause } from '@svc/protocol/lifecycle'

/** What became of a workspace after its container ended by itself. Moments are epoch seconds. */
export type RestartRecord = { readonly attempts: number; readonly lastCause: DeathCause } & (
  | { readonly state: 'dead' }
  | { readonly state: 'backing-off'; readonly nextAttemptAt: number }
  | { readonly state: 'recovering'; readonly startedAt: number }
  | { readonly state: 'crash-loop'; readonly gaveUpAt: number }
)

export type RestartEvent =
  | { readonly type: 'died'; readonly cause: DeathCause }
  /** An attempt to start it again came to its end. */
  | { readonly type: 'restarted' }
  | { readonly type: 'restart failed' }
  /** No attempt will be made after all: turned off meanwhile, or the server is draining. */
  | { readonly type: 'dropped' }

export interface RestartPolicy {
  readonly enabled: boolean
  readonly maxRetries: number
  readonly backoffSeconds: number
}

const MAX_BACKOFF_SECONDS = 60
/** A container that ran this long is no longer the one that crashed. */
const STABLE_SECONDS = 600

/** The one place where a record changes. Undefined is a workspace without a crash to tell of. */
export function transition(
  before: RestartRecord | undefined,
  event: RestartEvent,
  { nowSeconds, policy }: { nowSeconds: number; policy: RestartPolicy },
): RestartRecord | undefined {
  const record = stillTrue(before, nowSeconds)
  switch (event.type) {
    case 'died':
      return next({ attempts: record?.attempts ?? 0, lastCause: event.cause }, nowSeconds, policy)
    case 'restarted':
      return record && { ...counted(record), state: 'recovering', startedAt: nowSeconds }
    case 'restart failed':
      return record && next(counted(record), nowSeconds, policy)
    case 'dropped':
      return record?.state === 'backing-off'
        ? { state: 'dead', attempts: record.attempts, lastCause: record.lastCause }
        : record
  }
}

/** The record as of now: one of a container that has been stable for long is void. */
export function stillTrue(record: RestartRecord | undefined, nowSeconds: number): RestartRecord | undefined {
  return record?.state === 'recovering' && nowSeconds - record.startedAt >= STABLE_SECONDS ? undefined : record
}

type Counters = Pick<RestartRecord, 'attempts' | 'lastCause'>

const counted = ({ attempts, lastCause }: Counters): Counters => ({ attempts: attempts + 1, lastCause })

function next(counters: Counters, nowSeconds: number, policy: RestartPolicy): RestartRecord {
  const { attempts, lastCause } = counters
  if (!policy.enabled) return { state: 'dead', attempts, lastCause }
  if (attempts >= policy.maxRetries) return { state: 'crash-loop', attempts, lastCause, gaveUpAt: nowSeconds }
  const waitSeconds = Math.min(policy.backoffSeconds * 2 ** attempts, MAX_BACKOFF_SECONDS)
  return { state: 'backing-off', attempts, lastCause, nextAttemptAt: nowSeconds + waitSeconds }
}
