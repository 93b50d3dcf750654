import type { ColumnType, Generated } from 'kysely'

/** Every table, as SQL spells it. Rows become the features' own types in their `*-store.ts`. */
export interface Database {
  abandoned_homes: AbandonedHomesTable
  acl_entries: AclEntriesTable
  audit_events: AuditEventsTable
  container_events: ContainerEventsTable
  group_members: GroupMembersTable
  invitations: InvitationsTable
  login_failures: LoginFailuresTable
  migrations: MigrationsTable
  password_history: PasswordHistoryTable
  user_groups: UserGroupsTable
  user_sessions: UserSessionsTable
  users: UsersTable
  workspace_ports: WorkspacePortsTable
  workspaces: WorkspacesTable
}

/** A column that is written once: no update may name it. */
type WrittenOnce<T> = ColumnType<T, T, never>

/** Who did what to whom. Append-only: the database itself refuses updates; only retention deletes. */
export interface AuditEventsTable {
  /** Grows for ever and is never given out twice, so a reader may remember how far it got. */
  id: Generated<number>
  event: WrittenOnce<string>
  actor_id: WrittenOnce<string | null>
  actor_email: WrittenOnce<string | null>
  target_type: WrittenOnce<string | null>
  target_id: WrittenOnce<string | null>
  /** A JSON object as text. */
  detail: WrittenOnce<string>
  source_ip: WrittenOnce<string | null>
  user_agent: WrittenOnce<string | null>
  method: WrittenOnce<string | null>
  referer: WrittenOnce<string | null>
  /** Epoch seconds with fractions. */
  created_at: WrittenOnce<number>
}

/** What `migrations/migrate.ts` has done to this database; nobody else writes here. */
export interface MigrationsTable {
  number: number
  name: string
  /** SHA-256 of the statements as they were run. */
  digest: string
  applied_at: number
}

export interface UsersTable {
  id: WrittenOnce<string>
  /** In lower case. */
  email: string
  handle: string
  /** How often the address was changed, so that a link to an earlier one stays dead when the address comes back. */
  address_changes: Generated<number>
  verified: number
  /** `local` for accounts with a password, `system` for the agent, else the identity provider. */
  provider: string
  password_hash: string | null
  password_set_at: number | null
  must_change_password: Generated<number>
  disabled: Generated<number>
  created_at: WrittenOnce<number>
  last_login_at: number | null
  last_activity_at: number | null
}

/** Passwords a person had before the present one. */
export interface PasswordHistoryTable {
  id: Generated<number>
  user_id: WrittenOnce<string>
  password_hash: WrittenOnce<string>
  retired_at: WrittenOnce<number>
}

/** Wrong passwords in a row. The account is an address, or what was typed when nobody has it. */
export interface LoginFailuresTable {
  account: WrittenOnce<string>
  failures: number
  first_failure_at: number
  locked_until: number | null
}

/** A row is a session that lives: a token whose `jti` is nowhere here has been revoked. */
export interface UserSessionsTable {
  /** Tells which of two sessions of the same moment came first. */
  number: Generated<number>
  /** Stays when a refresh changes the token. */
  id: WrittenOnce<string>
  user_id: WrittenOnce<string>
  jti: string
  /** The token before the last refresh, so that a refresh whose answer was lost can be repeated. */
  previous_jti: string | null
  refreshed_at: number | null
  created_at: WrittenOnce<number>
  issued_at: number
  expires_at: number
  last_seen_at: number
  source_ip: WrittenOnce<string | null>
  user_agent: WrittenOnce<string | null>
}

export interface UserGroupsTable {
  id: WrittenOnce<string>
  name: string
  description: string | null
  source: WrittenOnce<'manual' | 'workspace-role'>
  created_at: WrittenOnce<number>
}

export interface GroupMembersTable {
  group_id: WrittenOnce<string>
  user_id: WrittenOnce<string>
  /** Who put them there: `manual`, or the part that keeps the membership in step with something else. */
  source: WrittenOnce<string>
}

/** Read by position, lowest first. Positions have gaps where a user or group was deleted. */
export interface AclEntriesTable {
  resource: WrittenOnce<string>
  position: WrittenOnce<number>
  action: WrittenOnce<'allow' | 'deny'>
  principal_kind: WrittenOnce<'everyone' | 'authenticated' | 'user' | 'group'>
  user_id: WrittenOnce<string | null>
  group_id: WrittenOnce<string | null>
  permission: WrittenOnce<string>
}

export interface InvitationsTable {
  id: WrittenOnce<string>
  email: WrittenOnce<string>
  invited_by: WrittenOnce<string>
  invited_by_email: WrittenOnce<string>
  status: 'pending' | 'accepted' | 'revoked'
  created_at: WrittenOnce<number>
  accepted_at: number | null
}

export interface WorkspacesTable {
  id: WrittenOnce<string>
  owner_id: string
  name: string
  /** Of the container made for it last; null once that is known to be gone. */
  container_id: string | null
  /** JSON; what that container was made with, whatever the row says by now. Written together with its id. */
  started_with: string | null
  num_ports: number
  image: string | null
  service_command: string | null
  auto_start: number
  setup_state: 'pending' | 'complete' | 'failed'
  /** JSON, as the five below. */
  health_check: string | null
  mounts: string | null
  env: string | null
  allowed_domains: string | null
  rejected_domains: string | null
  settings: string | null
  egress_mode: 'interactive' | 'static' | 'allow'
  per_handle_home: number
  classification_banner: string | null
  hosted_public: Generated<number>
  created_at: WrittenOnce<number>
}

/** Ports of the host that belong to a workspace. */
export interface WorkspacePortsTable {
  port: WrittenOnce<number>
  workspace_id: WrittenOnce<string>
}

/** Workspaces that are gone and whose files are still to be removed. */
export interface AbandonedHomesTable {
  workspace_id: WrittenOnce<string>
  /** What its archive says of it; null when it only is to be removed. */
  description: string | null
}

/** What happened to containers. Append-only, as the audit trail is. */
export interface ContainerEventsTable {
  id: Generated<number>
  workspace_id: WrittenOnce<string>
  event: WrittenOnce<string>
  actor_type: WrittenOnce<'user' | 'agent' | 'system'>
  actor_id: WrittenOnce<string | null>
  cause: WrittenOnce<string>
  container_id: WrittenOnce<string | null>
  container_role: WrittenOnce<string>
  network_namespace: WrittenOnce<string | null>
  created_at: WrittenOnce<number>
}
