import { Health, type HealthDetail } from '@svc/protocol/instance'
import { type Route, route } from '../../kernel/route.ts'

interface HealthParts {
  readonly instanceId: string
  /** The latest look at the machine; undefined when nobody looks. */
  readonly resources: () => Omit<HealthDetail, 'audit'> | undefined
  /** Whether writing the audit trail failed since the last look. */
  readonly auditFailing: () => boolean
}

/** Always 200: a load balancer reads the status, and a degraded server still serves. */
export const healthRoutes = (parts: HealthParts): Route[] => [
  route({
    method: 'GET',
    path: '/health',
    base: 'root',
    tag: 'Server',
    summary: 'Whether the server is well, and what is short when it is not',
    needs: 'anyone',
    reply: Health,
    handle: () => health(parts),
  }),
]

function health({ instanceId, resources, auditFailing }: HealthParts): Health {
  const reading = resources()
  const audit = auditFailing()
  const states = reading ? [...reading.filesystems, reading.memory, reading.cpu].map((row) => row?.state ?? 'ok') : []
  if (!audit && states.every((state) => state === 'ok')) return { status: 'ok', instance: instanceId }
  const unmeasured = { filesystems: [], memory: null, cpu: null, last_poll: null }
  return { status: 'degraded', instance: instanceId, detail: { ...(reading ?? unmeasured), audit } }
}
