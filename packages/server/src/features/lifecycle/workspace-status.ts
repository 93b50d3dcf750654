import type { WorkspaceNetwork, WorkspaceStatusReply } from '@svc/protocol/lifecycle'
import type { ListedState, RestartRecord as WireRestart } from '@svc/protocol/workspaces'
import { isoTime } from '../../kernel/wire-time.ts'
import type { RestartRecord } from './restart-record.ts'

/** How a workspace does at this moment. Everything but `restart` is null or empty while it is stopped. */
export interface WorkspaceStatus {
  readonly running: boolean
  readonly containerId: string | null
  readonly healthy: boolean | null
  readonly healthMessage: string | null
  /** Epoch seconds. */
  readonly healthCheckedAt: number | null
  readonly idleSeconds: number | null
  /** 0 for never. */
  readonly idleTimeoutSeconds: number | null
  readonly ports: readonly number[]
  readonly restart: RestartRecord | undefined
  readonly network: WorkspaceNetwork | null
  /** Epoch seconds. */
  readonly serviceStartedAt: number | null
}

export const STOPPED: Omit<WorkspaceStatus, 'restart'> = {
  running: false,
  containerId: null,
  healthy: null,
  healthMessage: null,
  healthCheckedAt: null,
  idleSeconds: null,
  idleTimeoutSeconds: null,
  ports: [],
  network: null,
  serviceStartedAt: null,
}

export const statusToWire = (status: WorkspaceStatus): WorkspaceStatusReply => ({
  running: status.running,
  container_id: status.containerId,
  health: healthToWire(status.healthy),
  health_message: status.healthMessage,
  health_checked_at: status.healthCheckedAt === null ? null : isoTime(status.healthCheckedAt),
  idle_seconds: status.idleSeconds === null ? null : Math.round(status.idleSeconds * 10) / 10,
  idle_timeout: status.idleTimeoutSeconds,
  ports: [...status.ports],
  restart: restartToWire(status.restart),
  network: status.network,
})

/** As much of it as a list of workspaces shows. */
export const listedToWire = (status: WorkspaceStatus): ListedState => ({
  running: status.running,
  health: healthToWire(status.healthy),
  health_message: status.healthMessage,
  service_started_at: status.serviceStartedAt,
  restart: restartToWire(status.restart),
})

function healthToWire(healthy: boolean | null): 'healthy' | 'unhealthy' | null {
  if (healthy === null) return null
  return healthy ? 'healthy' : 'unhealthy'
}

function restartToWire(record: RestartRecord | undefined): WireRestart | null {
  if (!record) return null
  return {
    state: record.state,
    attempts: record.attempts,
    last_cause: record.lastCause,
    ...(record.state === 'backing-off' ? { next_attempt_at: isoTime(record.nextAttemptAt) } : {}),
    ...(record.state === 'crash-loop' ? { gave_up_at: isoTime(record.gaveUpAt) } : {}),
  }
}
