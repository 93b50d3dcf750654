import { AclEntries, NewAclEntries } from '@svc/protocol/acl'
import {
  AddWorkspaceGroup,
  ChangeRole,
  GroupAdded,
  MemberAdded,
  NamedPerson,
  RoleChanged,
  RoleReplaced,
  ShareRemoved,
  Workspace,
  WorkspaceGroups,
  WorkspaceMembers,
  WorkspaceRoles as WorkspaceRolesReply,
} from '@svc/protocol/workspaces'
import * as z from 'zod'
import { allOf, type Need, type Route, route } from '../../kernel/route.ts'
import { fromWire, toWire } from '../acl/acl-wire.ts'
import type { WorkspaceAcl } from './workspace-acl.ts'
import { resourceOf } from './workspace-resource.ts'
import type { WorkspaceRoles } from './workspace-roles.ts'
import type { WorkspaceSharing } from './workspace-sharing.ts'
import type { WorkspaceTransfer } from './workspace-transfer.ts'
import { rolesToWire, workspaceToWire } from './workspace-wire.ts'

const tag = 'Sharing'
const params = z.object({ id: z.string() })
const sharing: Need = { permission: 'share-workspace', on: '/workspaces/:id' }
const advanced: Need = { permission: 'share-advanced', on: '/workspaces/:id' }

/** The longest list, as a client writes it that sends back all it has read. */
const LIST_LIMIT_BYTES = 192 * 1024

interface SharingRouteParts {
  readonly sharing: WorkspaceSharing
  readonly roles: WorkspaceRoles
  readonly acl: WorkspaceAcl
  readonly transfer: WorkspaceTransfer
}

export const sharingRoutes = (parts: SharingRouteParts): Route[] => [
  ...memberRoutes(parts.sharing),
  ...groupRoutes(parts.sharing),
  ...roleRoutes(parts.roles),
  ...aclRoutes(parts.acl),
  route({
    method: 'POST',
    path: '/workspaces/:id/transfer',
    tag,
    summary: 'Give a workspace to another owner',
    needs: { permission: 'transfer-workspace', on: '/workspaces/:id' },
    params,
    body: NamedPerson,
    reply: Workspace,
    refusals: ['bad_request', 'workspace_not_found', 'not_found', 'conflict'],
    handle: async ({ caller, params, body, request }) =>
      workspaceToWire(await parts.transfer.transfer(caller, params.id, body.email, request)),
  }),
]

const memberRoutes = (shares: WorkspaceSharing): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/members',
    tag,
    summary: 'List the people a workspace is shared with one by one',
    needs: sharing,
    params,
    reply: WorkspaceMembers,
    refusals: ['workspace_not_found'],
    handle: ({ params }) => shares.members(params.id),
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/members',
    tag,
    summary: 'Share a workspace with somebody',
    needs: sharing,
    params,
    body: NamedPerson,
    reply: MemberAdded,
    refusals: ['bad_request', 'workspace_not_found', 'not_found', 'conflict'],
    async handle({ caller, params, body, request }) {
      const { id, email } = await shares.addMember(caller, params.id, body.email, request)
      return { status: 'shared' as const, user_id: id, email }
    },
  }),
  route({
    method: 'DELETE',
    path: '/workspaces/:id/members/:member_id',
    tag,
    summary: 'Take away every entry that names somebody; what they have through groups and roles stays',
    needs: sharing,
    params: params.extend({ member_id: z.string() }),
    reply: ShareRemoved,
    refusals: ['bad_request', 'workspace_not_found'],
    async handle({ caller, params, request }) {
      await shares.removeMember(caller, params.id, params.member_id, request)
      return { status: 'removed' as const }
    },
  }),
]

const groupRoutes = (shares: WorkspaceSharing): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/groups',
    tag,
    summary: 'List the groups that the entries of a workspace name',
    needs: sharing,
    params,
    reply: WorkspaceGroups,
    refusals: ['workspace_not_found'],
    handle: async ({ params }) => (await shares.groups(params.id)).map(({ id, name }) => ({ id, name })),
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/groups',
    tag,
    summary: 'Share a workspace with a group',
    needs: sharing,
    params,
    body: AddWorkspaceGroup,
    reply: GroupAdded,
    refusals: ['bad_request', 'workspace_not_found', 'not_found', 'conflict'],
    async handle({ caller, params, body, request }) {
      const { id, name } = await shares.addGroup(caller, params.id, body.group_id, request)
      return { status: 'shared' as const, group_id: id, name }
    },
  }),
  route({
    method: 'DELETE',
    path: '/workspaces/:id/groups/:group_id',
    tag,
    summary: 'Take away every entry that names a group',
    needs: sharing,
    params: params.extend({ group_id: z.string() }),
    reply: ShareRemoved,
    refusals: ['workspace_not_found'],
    async handle({ caller, params, request }) {
      await shares.removeGroup(caller, params.id, params.group_id, request)
      return { status: 'removed' as const }
    },
  }),
]

const roleRoutes = (roles: WorkspaceRoles): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/roles',
    tag,
    summary: 'List the roles of a workspace, who has them, and what they may do',
    needs: sharing,
    params,
    reply: WorkspaceRolesReply,
    refusals: ['workspace_not_found'],
    handle: async ({ params }) => rolesToWire(await roles.list(params.id)),
  }),
  route({
    method: 'POST',
    path: '/workspaces/:id/roles/:role',
    tag,
    summary: 'Give somebody a role; their other roles stay',
    needs: allOf(sharing, advanced),
    params: params.extend({ role: z.string() }),
    body: NamedPerson,
    reply: RoleChanged,
    refusals: ['bad_request', 'workspace_not_found', 'not_found'],
    async handle({ caller, params, body, request }) {
      await roles.add(caller, params.id, params.role, body.email, request)
      return { ok: true as const }
    },
  }),
  route({
    method: 'PATCH',
    path: '/workspaces/:id/roles',
    tag,
    summary: 'Make a role the only one somebody has, or take away all of them',
    needs: allOf(sharing, advanced),
    params,
    body: ChangeRole,
    reply: RoleReplaced,
    refusals: ['bad_request', 'workspace_not_found', 'not_found'],
    async handle({ caller, params, body, request }) {
      await roles.replace(caller, params.id, body, request)
      return { ok: true as const, email: body.email, role: body.role }
    },
  }),
  route({
    method: 'DELETE',
    path: '/workspaces/:id/roles/:role/:member_id',
    tag,
    summary: 'Take a role away from somebody',
    needs: allOf(sharing, advanced),
    params: params.extend({ role: z.string(), member_id: z.string() }),
    reply: RoleChanged,
    refusals: ['bad_request', 'workspace_not_found', 'not_found'],
    async handle({ caller, params, request }) {
      await roles.remove(caller, params.id, params.role, params.member_id, request)
      return { ok: true as const }
    },
  }),
]

const aclRoutes = (acl: WorkspaceAcl): Route[] => [
  route({
    method: 'GET',
    path: '/workspaces/:id/acl',
    tag,
    summary: 'The entries of a workspace, in the order they are asked',
    needs: advanced,
    params,
    reply: AclEntries,
    refusals: ['workspace_not_found'],
    handle: async ({ params }) => toWire(resourceOf(params.id), await acl.entries(params.id)),
  }),
  route({
    method: 'PUT',
    path: '/workspaces/:id/acl',
    tag,
    summary: 'Replace all entries of a workspace',
    needs: advanced,
    params,
    body: NewAclEntries,
    bodyLimitBytes: LIST_LIMIT_BYTES,
    reply: AclEntries,
    refusals: ['bad_request', 'workspace_not_found'],
    handle: async ({ caller, params, body, request }) =>
      toWire(resourceOf(params.id), await acl.replace(caller, params.id, fromWire(body), request)),
  }),
]
