import type { StartCause, StopCause } from '@svc/protocol/container-events'
import type { DeathCause } from '@svc/protocol/lifecycle'

/** Who is behind a start or a stop. */
export type Actor = { readonly type: 'user'; readonly id: string } | { readonly type: 'system' }

export const SYSTEM: Actor = { type: 'system' }

export interface StartRequest {
  readonly cause: StartCause
  readonly actor: Actor
  /** Where the person who asked for it reaches the server. */
  readonly externalUrl?: string | undefined
}

export interface StopRequest {
  readonly cause: StopCause
  readonly actor: Actor
}

/** What has happened to a workspace, in the order in which it is announced. */
export type LifecycleNews = {
  readonly workspaceId: string
} /** `stop_failed` takes back a `stopping`: the engine could not stop it. */ & (
  | {
      readonly kind: 'started'
      readonly cause: StartCause | 'stop_failed'
      readonly serviceStartedAt: number | null
    }
  /** It counts as stopped from now on; `stopped` follows once the container is gone. */
  | { readonly kind: 'stopping'; readonly cause: StopCause; readonly reason: string }
  | { readonly kind: 'stopped'; readonly cause: StopCause; readonly reason: string }
  | { readonly kind: 'died'; readonly cause: DeathCause; readonly message: string; readonly restart: RestartOutlook }
  /** Comes before the `stopping` of the same workspace. */
  | { readonly kind: 'evicted'; readonly reason: string }
  | ({ readonly kind: 'health' } & HealthNews)
  /** The agent was lost and found again: who held the old connection must take the new one. */
  | { readonly kind: 'reconnected' }
)

export interface HealthNews {
  readonly healthy: boolean
  readonly message: string | null
  /** False once, when the container ends. */
  readonly running: boolean
  /** Epoch seconds. */
  readonly checkedAt: number | null
  /** Counts the news of one container, from 1. */
  readonly seq: number
}

export interface RestartOutlook {
  readonly attempts: number
  /** Seconds until the next attempt; null when there will be none. */
  readonly inSeconds: number | null
  readonly gaveUp: boolean
}

const REASONS: Partial<Record<StopCause, string>> = {
  stop: 'shut down by user',
  restart: 'restarted by user',
  delete: 'deleted',
  idle_timeout: 'idle timeout',
  eviction: 'host memory pressure',
  logout: 'the owner may no longer sign in',
  drain: 'server recycle',
  shutdown: 'host shutdown',
}

/** For the people who are in the workspace. */
export const reasonFor = (cause: StopCause): string => REASONS[cause] ?? ''
