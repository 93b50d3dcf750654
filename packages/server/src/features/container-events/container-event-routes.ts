import type { ContainerEvent } from '@svc/protocol/container-events'
import { ContainerEvents as ContainerEventPage, ContainerEventsQuery } from '@svc/protocol/container-events'
import { type Route, route } from '../../kernel/route.ts'
import type { ContainerEventRecord } from './container-event.ts'
import type { ContainerEvents } from './container-events.ts'

export const containerEventRoutes = (events: ContainerEvents): Route[] => [
  route({
    method: 'GET',
    path: '/events/containers',
    tag: 'Audit',
    summary: 'What happened to containers, newest first',
    needs: { permission: 'manage-events', on: '/events' },
    query: ContainerEventsQuery,
    reply: ContainerEventPage,
    handle: async ({ query: { limit, offset, workspace, workspace_id: workspaceId } }) => {
      const { records, total } = await events.list({ workspace, workspaceId }, { limit, offset })
      return { items: records.map(toWire), total, limit, offset }
    },
  }),
]

const toWire = (record: ContainerEventRecord): ContainerEvent => ({
  id: record.id,
  workspace_id: record.workspaceId,
  workspace_name: record.workspaceName,
  event: record.event,
  actor_type: record.actorType,
  actor_id: record.actorId,
  actor_email: record.actorEmail,
  cause: record.cause,
  container_id: record.containerId,
  container_role: record.containerRole,
  network_namespace: record.networkNamespace,
  created_at: record.createdAt,
})
