import * as z from 'zod'

/** What happened to containers, as those who may read it see it. */

export const containerEventNames = ['start', 'stop', 'sidecar_start', 'sidecar_stop'] as const
export type ContainerEventName = (typeof containerEventNames)[number]

/** Why a workspace was started. */
export const startCauses = ['api', 'create', 'ws_connect', 'auto_start', 'crash_restart', 'restart'] as const
export type StartCause = (typeof startCauses)[number]

/** Why a container was stopped and removed. */
export const stopCauses = [
  'stop',
  'restart',
  'delete',
  'crash_teardown',
  'idle_timeout',
  'eviction',
  'logout',
  'drain',
  'shutdown',
  /** Nobody knew of the container any more. */
  'reap',
  /** It was made, and its agent never got ready. */
  'start_failed',
] as const
export type StopCause = (typeof stopCauses)[number]

const Filter = z.string().optional()

export const ContainerEventsQuery = z.object({
  limit: z.coerce.number().pipe(z.int().min(1).max(200)).default(50),
  offset: z.coerce.number().pipe(z.int().min(0)).default(0),
  workspace: Filter.meta({ description: 'The id of a workspace, or part of its name; wins over `workspace_id`' }),
  workspace_id: Filter.meta({ description: 'The id of a workspace' }),
})
export type ContainerEventsQuery = z.infer<typeof ContainerEventsQuery>

export const ContainerEvent = z.object({
  id: z.int(),
  workspace_id: z.string(),
  workspace_name: z.string().nullable().meta({ description: 'null when the workspace is gone' }),
  event: z.string(),
  actor_type: z.enum(['user', 'agent', 'system']),
  actor_id: z.string().nullable(),
  actor_email: z.string().nullable().meta({ description: 'null when nobody did it, or when the account is gone' }),
  cause: z.string(),
  container_id: z.string().nullable(),
  container_role: z.string(),
  network_namespace: z.string().nullable().meta({ description: 'The container whose network it shares' }),
  created_at: z.number().meta({ description: 'Seconds since 1970' }),
})
export type ContainerEvent = z.infer<typeof ContainerEvent>

/** Newest first. */
export const ContainerEvents = z.object({
  items: z.array(ContainerEvent),
  total: z.int().meta({ description: 'How many there are with these filters, on all pages' }),
  limit: z.int(),
  offset: z.int(),
})
export type ContainerEvents = z.infer<typeof ContainerEvents>
