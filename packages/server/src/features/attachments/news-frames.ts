import type { ServerFrame, WorkspaceEvent } from '@svc/protocol/ws/server-frames'
import { isoTime } from '../../kernel/wire-time.ts'
import type { HealthNews, LifecycleNews } from '../lifecycle/lifecycle-news.ts'

/** A frame, and whether it is for those who may monitor the workspace or for those who have it open. */
export type Told =
  | { readonly to: 'monitors'; readonly frame: ServerFrame }
  | { readonly to: 'attached'; readonly event: WorkspaceEvent }

/** What is said of one piece of news, in this order. */
export function framesFor(news: LifecycleNews): Told[] {
  const { workspaceId } = news
  switch (news.kind) {
    case 'started': {
      const known = news.serviceStartedAt === null ? {} : { service_started_at: news.serviceStartedAt }
      return [
        monitors({ type: 'container_status', workspace_id: workspaceId, running: true, ...known }),
        attached({ name: 'container_ready', value: { reason: readyReason(news.cause) } }),
      ]
    }
    case 'stopping': {
      const status = monitors({ type: 'container_status', workspace_id: workspaceId, running: false })
      return news.cause === 'idle_timeout' ? [attached(stopped(news.reason)), status] : [status]
    }
    case 'stopped':
      // Those who were idle in it were told first.
      return news.cause === 'idle_timeout' ? [] : [attached(stopped(news.reason))]
    case 'died':
      return [attached({ name: 'container_died', value: death(news) })]
    case 'evicted':
      return [monitors({ type: 'workspace_evicted', workspace_id: workspaceId, reason: news.reason })]
    case 'health':
      return [monitors(healthFrame(workspaceId, news))]
    case 'reconnected':
      return []
  }
}

export const healthFrame = (workspaceId: string, health: HealthNews): ServerFrame => ({
  type: 'service_health',
  workspace_id: workspaceId,
  healthy: health.healthy,
  health_message: health.message,
  running: health.running,
  health_checked_at: health.checkedAt === null ? null : isoTime(health.checkedAt),
  seq: health.seq,
})

export const stopped = (reason: string): WorkspaceEvent => ({ name: 'container_stopped', value: { reason } })

export const eventFrame = (event: WorkspaceEvent): ServerFrame => ({
  type: 'event',
  event: { type: 'CUSTOM', ...event },
})

const monitors = (frame: ServerFrame): Told => ({ to: 'monitors', frame })
const attached = (event: WorkspaceEvent): Told => ({ to: 'attached', event })

type Started = Extract<LifecycleNews, { kind: 'started' }>
type Died = Extract<LifecycleNews, { kind: 'died' }>

function readyReason(cause: Started['cause']): string {
  if (cause === 'restart') return 'The workspace was restarted'
  if (cause === 'crash_restart') return 'The workspace was started again after a crash'
  return cause === 'stop_failed' ? 'The workspace could not be stopped' : 'The workspace was started'
}

function death({ cause, message, restart }: Died) {
  const { attempts, inSeconds, gaveUp } = restart
  return {
    cause,
    message,
    restart_attempts: attempts,
    restart_scheduled: inSeconds !== null,
    ...(inSeconds === null ? {} : { restart_in_seconds: inSeconds }),
    gave_up: gaveUp,
  }
}
