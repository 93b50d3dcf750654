import type { Migration } from './migration.ts'

/** As in `@svc/protocol/system-agent`, and for ever: a step of the schema is never edited. */
const AGENT = `'00000000-0000-0000-0000-000000000001'`

export const workspaces: Migration = {
  number: 3,
  name: 'workspaces',
  statements: [
    `create table workspaces (
      id {text} primary key,
      owner_id {text} not null references users (id) check (owner_id <> ${AGENT}),
      name {text} not null,
      container_id text,
      started_with text,
      num_ports {integer} not null,
      image text,
      service_command text,
      auto_start {integer} not null check (auto_start in (0, 1)),
      setup_state text not null check (setup_state in ('pending', 'complete', 'failed')),
      health_check text,
      mounts text,
      env text,
      allowed_domains text,
      rejected_domains text,
      settings text,
      egress_mode text not null check (egress_mode in ('interactive', 'static', 'allow')),
      per_handle_home {integer} not null check (per_handle_home in (0, 1)),
      classification_banner text,
      created_at {real} not null,
      unique (owner_id, name)
    ) {strict}`,
    'create index workspaces_by_owner_and_age on workspaces (owner_id, created_at, id)',
    'create index workspaces_by_age on workspaces (created_at, id)',
    'create index workspaces_by_name on workspaces (name, id)',
    `create table workspace_ports (
      port {integer} primary key,
      workspace_id {text} not null references workspaces (id) on delete cascade
    ) {strict}`,
    'create index workspace_ports_by_workspace on workspace_ports (workspace_id, port)',
    // Files of workspaces that are gone. Whatever interrupts their removal, it is taken up again. Those with a
    // description become an archive first, which begins with it.
    `create table abandoned_homes (
      workspace_id {text} primary key,
      description text
    ) {strict}`,
    // What happened to containers outlives the workspace and its people, so nothing here refers to them.
    `create table container_events (
      id {identity},
      workspace_id {text} not null,
      event text not null,
      actor_type text not null check (actor_type in ('user', 'agent', 'system')),
      actor_id text,
      cause text not null,
      container_id text,
      container_role text not null,
      network_namespace text,
      created_at {real} not null
    ) {strict}`,
    'create index container_events_by_time on container_events (created_at, id)',
    'create index container_events_by_workspace on container_events (workspace_id, created_at, id)',
    {
      sqlite: [
        `create trigger container_events_append_only before update on container_events
         begin select raise(abort, 'container_events is append-only'); end`,
      ],
      postgres: [
        `create trigger container_events_append_only before update on container_events
         for each row execute function refuse_update()`,
      ],
    },
  ],
}
