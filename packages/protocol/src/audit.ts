import * as z from 'zod'

/** The audit trail as those who may read it see it. */

const Filter = z.string().optional()

export const AuditEventsQuery = z.object({
  limit: z.coerce.number().pipe(z.int().min(1).max(200)).default(50),
  offset: z.coerce.number().pipe(z.int().min(0)).default(0),
  event: Filter.meta({ description: 'Part of the name of the event' }),
  actor: Filter.meta({ description: 'Part of the id or email of who did it' }),
  target: Filter.meta({ description: 'Part of the id of what it was done to' }),
})
export type AuditEventsQuery = z.infer<typeof AuditEventsQuery>

export const AuditEvent = z.object({
  id: z.int(),
  event: z.string(),
  actor_id: z.string().nullable().meta({ description: 'null when nobody was signed in' }),
  actor_email: z.string().nullable().meta({ description: 'As it was at the time' }),
  target_type: z.string().nullable(),
  target_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Never holds a password or a token' }),
  source_ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  method: z.string().nullable().meta({ description: 'HTTP method of the request' }),
  referer: z.string().nullable(),
  created_at: z.number().meta({ description: 'Seconds since 1970' }),
})
export type AuditEvent = z.infer<typeof AuditEvent>

/** Newest first. */
export const AuditEvents = z.object({
  items: z.array(AuditEvent),
  total: z.int().meta({ description: 'How many there are with these filters, on all pages' }),
  limit: z.int(),
  offset: z.int(),
})
export type AuditEvents = z.infer<typeof AuditEvents>
