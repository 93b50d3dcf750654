import { type AuditEvent, AuditEvents, AuditEventsQuery } from '@svc/protocol/audit'
import { AuditStatus } from '@svc/protocol/instance'
import { type Route, route } from '../../kernel/route.ts'
import type { AuditRecord } from './audit-entry.ts'
import type { AuditLog } from './audit-log.ts'

interface AuditRouteParts {
  readonly audit: AuditLog
  /** Rows about containers that could not be written, since the process started. */
  readonly containerWriteFailures: () => number
  readonly failClosed: () => boolean
}

export const auditRoutes = ({ audit, containerWriteFailures, failClosed }: AuditRouteParts): Route[] => [
  route({
    method: 'GET',
    path: '/audit',
    base: 'root',
    tag: 'Server',
    summary: 'Whether the audit trail is being written and forwarded',
    needs: 'anyone',
    reply: AuditStatus,
    handle: () => ({
      write_failures: containerWriteFailures(),
      identity_write_failures: audit.writeFailures,
      fail_closed: failClosed(),
      forwarding: { enabled: false as const },
    }),
  }),
  route({
    method: 'GET',
    path: '/events/audit',
    tag: 'Audit',
    summary: 'The audit trail of people, permissions and the server, newest first',
    needs: { permission: 'manage-events', on: '/events' },
    query: AuditEventsQuery,
    reply: AuditEvents,
    handle: async ({ query: { limit, offset, event, actor, target } }) => {
      const { records, total } = await audit.list({ event, actor, target }, { limit, offset })
      return { items: records.map(toWire), total, limit, offset }
    },
  }),
]

const toWire = (record: AuditRecord): AuditEvent => ({
  id: record.id,
  event: record.event,
  actor_id: record.actorId,
  actor_email: record.actorEmail,
  target_type: record.targetType,
  target_id: record.targetId,
  detail: record.detail && { ...record.detail },
  source_ip: record.sourceIp,
  user_agent: record.userAgent,
  method: record.method,
  referer: record.referer,
  created_at: record.createdAt,
})
