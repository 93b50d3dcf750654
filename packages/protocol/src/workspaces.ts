import * as z from 'zod'
import { SortOrder } from './paging.ts'
import { permissions } from './permissions.ts'
import { roles } from './roles.ts'

/** Workspaces: what `/workspaces` takes and answers. */

/** Bounded, because the database finds workspaces by their names. */
const MAX_NAME_LENGTH = 255
/** A row that a list shows five hundred times must stay small. */
const MAX_TEXT_LENGTH = 32_768
const MAX_ITEMS = 500

/** Joiners are part of emoji and of some scripts; every other invisible character only makes two names look the same. */
const INVISIBLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
const VISIBLE = /[^\s\p{Cf}\p{Mn}\p{Me}]/u

/** `limit` and `offset` of a query, which is text. A whole number as people write it. */
const WholeNumber = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

export const WorkspaceName = z
  .string()
  .trim()
  .max(MAX_NAME_LENGTH)
  .refine((name) => VISIBLE.test(name), 'must hold a character that can be seen')
  .refine((name) => !INVISIBLE.test(name), 'must not hold control characters')

export const SetupState = z
  .enum(['pending', 'complete', 'failed'])
  .meta({ description: 'The service command runs once it is `complete`' })
export type SetupState = z.infer<typeof SetupState>

export const EgressMode = z.enum(['interactive', 'static', 'allow']).meta({
  description:
    'What happens to connections that no list names: a person is asked, they are refused, or they are recorded and let through',
})
export type EgressMode = z.infer<typeof EgressMode>

export const HealthCheck = z.object({
  command: z.string().max(MAX_TEXT_LENGTH).meta({ description: 'Shell text; exit code 0 means healthy' }),
  interval: z
    .number()
    .exactOptional()
    .meta({ description: 'Seconds between two checks; the server’s own value if absent' }),
  timeout: z.number().exactOptional().meta({ description: 'Seconds a check may take' }),
  grace: z.number().exactOptional().meta({ description: 'Seconds after a start in which a failure does not count' }),
})
export type HealthCheck = z.infer<typeof HealthCheck>

export const WorkspaceSettings = z.object({
  idle_timeout: z.int().exactOptional().meta({ description: 'Seconds; 0 for never' }),
  bridge_timeout: z.int().exactOptional().meta({ description: 'Seconds a request to a browser may take' }),
  cpu_limit: z.number().exactOptional(),
  memory_limit: z.string().exactOptional().meta({ description: 'As in `512m`' }),
  pids_limit: z.int().exactOptional(),
  tmp_size: z.string().exactOptional().meta({ description: 'As in `4g`' }),
  nix: z.boolean().exactOptional(),
  allow_sudo: z.boolean().exactOptional().meta({ description: 'Only where the server allows it as well' }),
})
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>

export const Workspace = z.object({
  id: z.string(),
  user_id: z.string().meta({ description: 'The owner' }),
  name: z.string().meta({ description: 'No two workspaces of one owner have the same' }),
  container_id: z.string().nullable(),
  num_ports: z.int().meta({ description: 'Ports it has for hosted applications' }),
  image: z.string().nullable().meta({ description: 'Null for the default image' }),
  service_command: z.string().nullable(),
  auto_start: z.boolean(),
  setup_state: SetupState,
  health_check: HealthCheck.nullable(),
  mounts: z.array(z.string()).nullable().meta({ description: '`source:destination`, or with `:options`' }),
  env: z.record(z.string(), z.string()).nullable(),
  allowed_domains: z.array(z.string()).nullable(),
  rejected_domains: z.array(z.string()).nullable(),
  settings: WorkspaceSettings.nullable().meta({ description: 'What is absent follows the settings of the server' }),
  egress_mode: EgressMode,
  per_handle_home: z.boolean().meta({ description: 'As asked for; it takes effect where the server allows it' }),
  classification_banner: z.string().nullable().meta({ description: 'Null for that of the server' }),
  hosted_public: z.boolean().meta({ description: 'Anybody may use what it hosts, without signing in' }),
  created_at: z.string().meta({ description: '`YYYY-MM-DD HH:MM:SS` in UTC' }),
})
export type Workspace = z.infer<typeof Workspace>

/** What has happened since a container died unexpectedly. */
export const RestartRecord = z.object({
  state: z.enum(['dead', 'backing-off', 'recovering', 'crash-loop']),
  attempts: z.int(),
  last_cause: z.string(),
  next_attempt_at: z.string().exactOptional().meta({ description: 'ISO 8601 with offset, while backing off' }),
  gave_up_at: z.string().exactOptional().meta({ description: 'ISO 8601 with offset, in a crash loop' }),
})
export type RestartRecord = z.infer<typeof RestartRecord>

export const Health = z
  .enum(['healthy', 'unhealthy'])
  .nullable()
  .meta({ description: 'Null without a check, without a result yet, or without a container' })
export type Health = z.infer<typeof Health>

/** How a workspace in a list is doing. */
export const ListedState = z.object({
  running: z.boolean(),
  health: Health,
  health_message: z.string().nullable().meta({ description: 'The end of what an unhealthy check wrote' }),
  service_started_at: z.number().nullable().meta({ description: 'Epoch seconds' }),
  restart: RestartRecord.nullable().meta({ description: 'Null when nothing has died' }),
})
export type ListedState = z.infer<typeof ListedState>

export const ListedWorkspace = Workspace.extend(ListedState.shape)
export type ListedWorkspace = z.infer<typeof ListedWorkspace>

export const SharedWorkspace = ListedWorkspace.extend({ owner_email: z.string() })
export type SharedWorkspace = z.infer<typeof SharedWorkspace>

export const WorkspaceStatus = z.object({
  running: z.boolean(),
  container_id: z.string().nullable(),
  health: Health,
  health_message: z.string().nullable(),
  health_checked_at: z.string().nullable().meta({ description: 'ISO 8601 with offset' }),
  idle_seconds: z.number().nullable().meta({ description: 'Since the last activity' }),
  idle_timeout: z.int().nullable().meta({ description: 'Seconds; 0 for never' }),
  ports: z.array(z.int()).meta({ description: 'Of the host; none while it is stopped' }),
  restart: RestartRecord.nullable(),
})
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>

const LARGEST_PAGE = 100

export const ListWorkspaces = z.object({
  limit: WholeNumber.min(1).max(LARGEST_PAGE).optional(),
  offset: WholeNumber.optional(),
  sort: z.enum(['name', 'created']).default('created'),
  order: SortOrder.default('desc'),
  q: z.string().optional().meta({ description: 'A part of the name, whatever the case of its letters' }),
})
export type ListWorkspaces = z.infer<typeof ListWorkspaces>

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    has_more: z.boolean().meta({ description: 'The page is full' }),
    next_offset: z.int().nullable().meta({ description: 'Where the next page begins; null when there is none' }),
  })

const listingOf = <T extends z.ZodType>(item: T) =>
  z
    .union([z.array(item), pageOf(item)])
    .meta({ description: 'A plain list of at most 500, or a page when `limit` or `offset` was sent' })

export const WorkspacePage = pageOf(ListedWorkspace)
export type WorkspacePage = z.infer<typeof WorkspacePage>
export const SharedWorkspacePage = pageOf(SharedWorkspace)
export const WorkspaceListing = listingOf(ListedWorkspace)
export const SharedWorkspaceListing = listingOf(SharedWorkspace)

/** What a person may set, in a new workspace and later. Rules that need more than the shape are answered with 400. */
const configuration = {
  image: z.string().nullish().meta({ description: 'One the server allows; empty or null for the default' }),
  service_command: z.string().max(MAX_TEXT_LENGTH).nullish(),
  auto_start: z.boolean().nullish().meta({ description: 'Start with the server; only where it allows that' }),
  setup_state: SetupState.nullish(),
  health_check: z
    .union([z.string().max(MAX_TEXT_LENGTH), HealthCheck])
    .nullish()
    .meta({ description: 'A text stands for an object with that `command`' }),
  mounts: z.array(z.string()).max(MAX_ITEMS).nullish(),
  env: z.record(z.string(), z.string()).nullish(),
  allowed_domains: z
    .array(z.string())
    .max(MAX_ITEMS)
    .nullish()
    .meta({ description: '`host`, `.host` (and subdomains), `*.host` (subdomains), or an IPv4 network; each `:port`' }),
  rejected_domains: z.array(z.string()).max(MAX_ITEMS).nullish().meta({ description: 'The same without networks' }),
  settings: z.record(z.string(), z.unknown()).nullish().meta({ description: 'An unknown key is refused' }),
  egress_mode: EgressMode.nullish(),
  per_handle_home: z.boolean().nullish(),
  classification_banner: z
    .string()
    .nullish()
    .meta({ description: 'One line of at most 120 printable characters; empty or null for that of the server' }),
  hosted_public: z.boolean().nullish().meta({
    description: 'Let anybody use what it hosts, without signing in; never taken over by a copy or an import',
  }),
}

export const CreateWorkspace = z.object({ name: WorkspaceName, ...configuration })
export type CreateWorkspace = z.infer<typeof CreateWorkspace>

/** What is absent stays as it is. */
export const UpdateWorkspace = z.object({ name: WorkspaceName.nullish(), ...configuration })
export type UpdateWorkspace = z.infer<typeof UpdateWorkspace>

export const UpdatedWorkspace = Workspace.extend({ status: z.literal('updated') })

export const PatchWorkspaceSettings = z
  .record(z.string(), z.unknown())
  .nullish()
  .meta({ description: 'Keys to set; null takes one away' })
export const PatchedWorkspaceSettings = z.object({ settings: WorkspaceSettings.nullable() })

export const DuplicateWorkspace = z
  .object({ name: WorkspaceName.nullish().meta({ description: '`<name>-copy`, or with a number, unless given' }) })
  .nullish()
export type DuplicateWorkspace = z.infer<typeof DuplicateWorkspace>

export const WorkspaceDeleted = z.object({ status: z.literal('deleted') })

/** Somebody, by address or handle: with an `@` in it, it is an address. */
export const NamedPerson = z.object({ email: z.string().meta({ description: 'Address or handle' }) })
export type NamedPerson = z.infer<typeof NamedPerson>

export const WorkspaceMembers = z.array(z.object({ id: z.string(), email: z.string(), handle: z.string() }))
export const MemberAdded = z.object({ status: z.literal('shared'), user_id: z.string(), email: z.string() })

export const WorkspaceGroups = z.array(z.object({ id: z.string(), name: z.string() }))
export const AddWorkspaceGroup = z.object({ group_id: z.string() })
export const GroupAdded = z.object({ status: z.literal('shared'), group_id: z.string(), name: z.string() })

export const ShareRemoved = z.object({ status: z.literal('removed') })

export const WorkspaceRoles = z.array(
  z.object({
    role: z.enum(roles),
    group_id: z.string(),
    group_name: z.string(),
    members: z.array(z.object({ id: z.string(), email: z.string() })),
    permissions: z.array(z.enum(permissions)).meta({ description: 'What the entries of the workspace allow the role' }),
  }),
)
export type WorkspaceRoles = z.infer<typeof WorkspaceRoles>

export const RoleChanged = z.object({ ok: z.literal(true) })
export const ChangeRole = NamedPerson.extend({
  role: z.string().nullable().meta({ description: 'Null takes them out of every role' }),
})
export const RoleReplaced = z.object({ ok: z.literal(true), email: z.string(), role: z.string().nullable() })
