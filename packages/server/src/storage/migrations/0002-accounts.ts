import type { Migration } from './migration.ts'

/** As in `@svc/protocol/system-agent`, and for ever: a step of the schema is never edited. */
const AGENT = `'00000000-0000-0000-0000-000000000001'`

export const accounts: Migration = {
  number: 2,
  name: 'accounts',
  statements: [
    `create table users (
      id {text} primary key,
      email {text} not null unique,
      handle {text} not null unique,
      address_changes {integer} not null default 0,
      verified {integer} not null check (verified in (0, 1)),
      provider text not null,
      password_hash text,
      password_set_at {real},
      must_change_password {integer} not null default 0 check (must_change_password in (0, 1)),
      disabled {integer} not null default 0 check (disabled in (0, 1)),
      created_at {real} not null,
      last_login_at {real},
      last_activity_at {real},
      check (id <> ${AGENT} or (
        provider = 'system' and handle = 'svc' and email = 'svc@system.invalid'
        and password_hash is null and disabled = 0 and must_change_password = 0
      ))
    ) {strict}`,
    'create index users_by_age on users (created_at, id)',
    {
      sqlite: [
        `create trigger system_agent_stays before delete on users when old.id = ${AGENT}
         begin select raise(abort, 'the system agent cannot be deleted'); end`,
        `create trigger system_agent_keeps_its_id before update of id on users when old.id = ${AGENT}
         begin select raise(abort, 'the system agent cannot be changed'); end`,
      ],
      postgres: [
        `create function refuse_system_agent() returns trigger language plpgsql as
         $$ begin raise exception 'the system agent cannot be changed'; end $$`,
        `create trigger system_agent_stays before delete on users
         for each row when (old.id = ${AGENT}) execute function refuse_system_agent()`,
        `create trigger system_agent_keeps_its_id before update of id on users
         for each row when (old.id = ${AGENT}) execute function refuse_system_agent()`,
      ],
    },
    `create table password_history (
      id {identity},
      user_id {text} not null references users (id) on delete cascade,
      password_hash text not null,
      retired_at {real} not null
    ) {strict}`,
    'create index password_history_by_user on password_history (user_id, id)',
    `create table login_failures (
      account {text} primary key,
      failures {integer} not null,
      first_failure_at {real} not null,
      locked_until {real}
    ) {strict}`,
    `create table user_sessions (
      number {identity},
      id {text} not null unique,
      user_id {text} not null references users (id) on delete cascade,
      jti {text} not null unique,
      previous_jti {text},
      refreshed_at {real},
      created_at {real} not null,
      issued_at {real} not null,
      expires_at {real} not null,
      last_seen_at {real} not null,
      source_ip text,
      user_agent text
    ) {strict}`,
    'create index user_sessions_by_user on user_sessions (user_id, created_at, number)',
    'create unique index user_sessions_by_previous_jti on user_sessions (previous_jti)',
    'create index user_sessions_by_expiry on user_sessions (expires_at)',
    `create table user_groups (
      id {text} primary key,
      name {text} not null unique,
      description text,
      source text not null check (source in ('manual', 'workspace-role')),
      created_at {real} not null
    ) {strict}`,
    `create table group_members (
      group_id {text} not null references user_groups (id) on delete cascade,
      user_id {text} not null references users (id) on delete cascade check (user_id <> ${AGENT}),
      source text not null,
      primary key (group_id, user_id)
    ) {strict}`,
    'create index group_members_by_user on group_members (user_id)',
    `create table acl_entries (
      resource {text} not null,
      position {integer} not null,
      action text not null check (action in ('allow', 'deny')),
      principal_kind text not null,
      user_id {text} references users (id) on delete cascade check (user_id <> ${AGENT}),
      group_id {text} references user_groups (id) on delete cascade,
      permission text not null,
      primary key (resource, position),
      check (
        (principal_kind in ('everyone', 'authenticated') and user_id is null and group_id is null)
        or (principal_kind = 'user' and user_id is not null and group_id is null)
        or (principal_kind = 'group' and group_id is not null and user_id is null)
      )
    ) {strict}`,
    'create index acl_entries_by_user on acl_entries (user_id)',
    'create index acl_entries_by_group on acl_entries (group_id)',
    // Who invited is kept as text: an invitation outlives the account that sent it.
    `create table invitations (
      id {text} primary key,
      email {text} not null,
      invited_by text not null,
      invited_by_email text not null,
      status text not null check (status in ('pending', 'accepted', 'revoked')),
      created_at {real} not null,
      accepted_at {real}
    ) {strict}`,
    `create unique index invitations_one_pending on invitations (email) where status = 'pending'`,
    'create index invitations_by_age on invitations (created_at, id)',
  ],
}
