import { ListUserWorkspaces, UserParams } from '@svc/protocol/users'
import {
  CreateWorkspace,
  DuplicateWorkspace,
  ListWorkspaces,
  PatchedWorkspaceSettings,
  PatchWorkspaceSettings,
  SharedWorkspaceListing,
  UpdatedWorkspace,
  UpdateWorkspace,
  Workspace,
  WorkspaceDeleted,
  WorkspaceListing,
  WorkspacePage,
} from '@svc/protocol/workspaces'
import * as z from 'zod'
import { allOf, type Need, type Route, route } from '../../kernel/route.ts'
import type { WorkspaceLists } from './workspace-lists.ts'
import type { WorkspaceOperations } from './workspace-operations.ts'
import type { WorkspaceRemoval } from './workspace-removal.ts'
import {
  listedToWire,
  listingToWire,
  pageToWire,
  sharedToWire,
  viewFromWire,
  workspaceToWire,
} from './workspace-wire.ts'

const tag = 'Workspaces'
const params = z.object({ id: z.string() })
const creating: Need = { permission: 'create-workspace', on: '/workspaces' }
const inWorkspace = (permission: Need['permission']): Need => ({ permission, on: '/workspaces/:id' })

/** A configuration with as many mounts and destinations as it may have. */
const CONFIGURATION_LIMIT_BYTES = 256 * 1024

interface WorkspaceRouteParts {
  readonly operations: WorkspaceOperations
  readonly removal: WorkspaceRemoval
  readonly lists: WorkspaceLists
}

export const workspaceRoutes = (parts: WorkspaceRouteParts): Route[] => [
  ...listRoutes(parts),
  ...makingRoutes(parts),
  ...changeRoutes(parts),
]

const listRoutes = ({ lists }: WorkspaceRouteParts): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces',
    tag,
    summary: 'List the workspaces of the caller',
    needs: 'signed in',
    query: ListWorkspaces,
    reply: WorkspaceListing,
    async handle({ caller, query }) {
      const view = viewFromWire(query)
      return listingToWire(await lists.owned(caller.userId, view), listedToWire, view)
    },
  }),
  route({
    method: 'GET',
    path: '/workspaces/shared',
    tag,
    summary: 'List the workspaces of others that are shared with the caller',
    needs: 'signed in',
    query: ListWorkspaces,
    reply: SharedWorkspaceListing,
    async handle({ caller, query }) {
      const view = viewFromWire(query)
      return listingToWire(await lists.shared(caller.userId, view), sharedToWire, view)
    },
  }),
  route({
    method: 'GET',
    path: '/users/:id/workspaces',
    tag: 'Users',
    summary: 'List the workspaces of somebody',
    needs: { permission: 'manage-users', on: '/users' },
    params: UserParams,
    query: ListUserWorkspaces,
    reply: WorkspacePage,
    refusals: ['not_found'],
    handle: async ({ params, query }) => pageToWire(await lists.ofUser(params.id, query), listedToWire),
  }),
]

const makingRoutes = ({ operations }: WorkspaceRouteParts): Route[] => [
  route({
    method: 'POST',
    path: '/workspaces',
    tag,
    summary: 'Create a workspace',
    needs: creating,
    body: CreateWorkspace,
    bodyLimitBytes: CONFIGURATION_LIMIT_BYTES,
    reply: Workspace,
    refusals: ['bad_request', 'conflict'],
    handle: async ({ caller, body, request }) => workspaceToWire(await operations.create(caller, body, request)),
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/duplicate',
    tag,
    summary: 'Create a workspace of the caller’s own with the same configuration, without files and shares',
    needs: allOf(inWorkspace('duplicate-workspace'), creating),
    params,
    body: DuplicateWorkspace,
    reply: Workspace,
    refusals: ['bad_request', 'workspace_not_found', 'conflict'],
    handle: async ({ caller, params, body, request }) =>
      workspaceToWire(await operations.duplicate(caller, params.id, body?.name ?? null, request)),
  }),
]

const changeRoutes = ({ operations, removal }: WorkspaceRouteParts): Route[] => [
  route({
    method: 'PUT',
    path: '/workspaces/:id',
    tag,
    summary: 'Change a workspace; most of it takes effect at the next start',
    needs: inWorkspace('edit-workspace'),
    params,
    body: UpdateWorkspace,
    bodyLimitBytes: CONFIGURATION_LIMIT_BYTES,
    reply: UpdatedWorkspace,
    refusals: ['bad_request', 'workspace_not_found', 'conflict'],
    handle: async ({ caller, params, body, request }) => ({
      ...workspaceToWire(await operations.update(caller, params.id, body, request)),
      status: 'updated' as const,
    }),
  }),
  route({
    method: 'PATCH',
    path: '/workspaces/:id/settings',
    tag,
    summary: 'Set single settings of a workspace',
    needs: inWorkspace('edit-workspace'),
    params,
    body: PatchWorkspaceSettings,
    reply: PatchedWorkspaceSettings,
    refusals: ['bad_request', 'workspace_not_found'],
    handle: async ({ caller, params, body, request }) => ({
      settings: await operations.patchSettings(caller, params.id, body ?? {}, request),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/workspaces/:id',
    tag,
    summary: 'Stop a workspace and delete it with its files',
    needs: inWorkspace('delete-workspace'),
    params,
    reply: WorkspaceDeleted,
    refusals: ['workspace_not_found', 'audit_unavailable', 'unavailable'],
    async handle({ caller, params, request }) {
      await removal.delete(caller, params.id, request)
      return { status: 'deleted' as const }
    },
  }),
]
