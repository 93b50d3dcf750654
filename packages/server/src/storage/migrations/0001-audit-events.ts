import type { Migration } from './migration.ts'

export const auditEvents: Migration = {
  number: 1,
  name: 'audit-events',
  statements: [
    `create table audit_events (
      id {identity},
      event text not null,
      actor_id text,
      actor_email text,
      target_type text,
      target_id text,
      detail text not null,
      source_ip text,
      user_agent text,
      method text,
      referer text,
      created_at {real} not null
    ) {strict}`,
    // Newest first, with the id to order rows of the same moment.
    'create index audit_events_by_time on audit_events (created_at, id)',
    // Append-only even for a faulty statement of ours. Deleting stays possible: retention needs it.
    {
      sqlite: [
        `create trigger audit_events_append_only before update on audit_events
         begin select raise(abort, 'audit_events is append-only'); end`,
      ],
      postgres: [
        `create function refuse_update() returns trigger language plpgsql as
         $$ begin raise exception '% is append-only', tg_table_name; end $$`,
        `create trigger audit_events_append_only before update on audit_events
         for each row execute function refuse_update()`,
      ],
    },
  ],
}
