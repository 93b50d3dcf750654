import { AuditStatus } from '@svc/protocol/instance'
import { type Route, route } from '../../kernel/route.ts'
import type { AuditLog } from './audit-log.ts'

export const auditRoutes = (audit: AuditLog, failClosed: () => boolean): Route[] => [
  route({
    method: 'GET',
    path: '/audit',
    base: 'root',
    tag: 'Server',
    summary: 'Whether the audit trail is being written and forwarded',
    needs: 'anyone',
    reply: AuditStatus,
    handle: () => ({
      write_failures: 0, // of container rows; there are none before there are containers
      identity_write_failures: audit.writeFailures,
      fail_closed: failClosed(),
      forwarding: { enabled: false as const },
    }),
  }),
]
