import type {
  ListedWorkspace,
  ListWorkspaces,
  SharedWorkspace,
  WorkspaceRoles as WireRoles,
  Workspace as WireWorkspace,
} from '@svc/protocol/workspaces'
import { plainTime } from '../../kernel/wire-time.ts'
import type { Workspace } from './workspace.ts'
import type { SharedRow, WorkspaceView } from './workspace-list-store.ts'
import type { Listed, Page } from './workspace-lists.ts'
import type { RoleView } from './workspace-roles.ts'

/** More than a person looks through; who has more asks for pages. */
const LONGEST_LIST = 500
const DEFAULT_PAGE = 100

export const workspaceToWire = (workspace: Workspace): WireWorkspace => ({
  id: workspace.id,
  user_id: workspace.ownerId,
  name: workspace.name,
  container_id: workspace.containerId,
  num_ports: workspace.numPorts,
  image: workspace.image,
  service_command: workspace.serviceCommand,
  auto_start: workspace.autoStart,
  setup_state: workspace.setupState,
  health_check: workspace.healthCheck,
  mounts: workspace.mounts && [...workspace.mounts],
  env: workspace.env,
  allowed_domains: workspace.allowedDomains && [...workspace.allowedDomains],
  rejected_domains: workspace.rejectedDomains && [...workspace.rejectedDomains],
  settings: workspace.settings,
  egress_mode: workspace.egressMode,
  per_handle_home: workspace.perHandleHome,
  classification_banner: workspace.classificationBanner,
  hosted_public: workspace.hostedPublic,
  created_at: plainTime(workspace.createdAt),
})

export const listedToWire = ({ workspace, state }: Listed): ListedWorkspace => ({
  ...workspaceToWire(workspace),
  ...state,
})

export const sharedToWire = (row: Listed & SharedRow): SharedWorkspace => ({
  ...listedToWire(row),
  owner_email: row.ownerEmail,
})

/** Paged when anything of a page was asked for. */
export function viewFromWire(query: ListWorkspaces): WorkspaceView & { readonly paged: boolean } {
  const paged = query.limit !== undefined || query.offset !== undefined
  return {
    paged,
    limit: query.limit ?? (paged ? DEFAULT_PAGE : LONGEST_LIST),
    offset: query.offset ?? 0,
    sort: query.sort,
    order: query.order,
    text: query.q,
  }
}

export const pageToWire = <T, W>({ items, hasMore, nextOffset }: Page<T>, toWire: (item: T) => W) => ({
  items: items.map(toWire),
  has_more: hasMore,
  next_offset: nextOffset,
})

/** A page or a plain list, as it was asked for. */
export const listingToWire = <T, W>(page: Page<T>, toWire: (item: T) => W, { paged }: { paged: boolean }) =>
  paged ? pageToWire(page, toWire) : page.items.map(toWire)

export const rolesToWire = (roles: readonly RoleView[]): WireRoles =>
  roles.map(({ id, name, role, members, permissions }) => ({
    role,
    group_id: id,
    group_name: name,
    members: members.map((member) => ({ id: member.id, email: member.email })),
    permissions: [...permissions],
  }))
