import { AclEntries, AclTree, GroupGrants, MyPermissions, NewAclEntries, UserGrants } from '@svc/protocol/acl'
import * as z from 'zod'
import { type Route, route } from '../../kernel/route.ts'
import { type AclService, requireInTree } from './acl-service.ts'
import { fromWire, groupGrantsToWire, overviewToWire, toWire, userGrantsToWire } from './acl-wire.ts'
import type { OwnPermissions } from './own-permissions.ts'
import { parseResourcePath } from './resource-path.ts'

const tag = 'Access control'
const needs = { permission: 'manage-acls', on: '/acl' } as const
const params = z.object({ id: z.string() })
const OnResource = z.object({ resource: z.string() })

/** The longest list, as a client writes it that sends back all it has read. It is parsed before anybody is known. */
const LIST_LIMIT_BYTES = 192 * 1024

export const aclRoutes = (acl: AclService, ownPermissions: OwnPermissions): Route[] => [
  route({
    method: 'GET',
    path: '/my-permissions',
    tag,
    summary: 'What the caller may do, on one resource or on all that always exist',
    needs: 'signed in',
    query: OnResource.partial(),
    reply: MyPermissions,
    handle: async ({ caller, query }) => overviewToWire(caller, await ownPermissions.of(caller, query.resource)),
  }),
  route({
    method: 'GET',
    path: '/acl/by-principal/user/:id',
    tag,
    summary: 'Every entry that names a user',
    needs,
    params,
    reply: UserGrants,
    handle: async ({ params: { id } }) => userGrantsToWire(id, await acl.grantsOf({ kind: 'user', id })),
  }),
  route({
    method: 'GET',
    path: '/acl/by-principal/group/:id',
    tag,
    summary: 'Every entry that names a group',
    needs,
    params,
    reply: GroupGrants,
    handle: async ({ params: { id } }) => groupGrantsToWire(id, await acl.grantsOf({ kind: 'group', id })),
  }),
  route({
    method: 'GET',
    path: '/acl/tree',
    tag,
    summary: 'Every resource that has entries, and how many',
    needs,
    reply: AclTree,
    handle: async () => (await acl.tree()).map(({ resource, entries }) => ({ resource, ace_count: entries })),
  }),
  route({
    method: 'GET',
    path: '/acl/resource',
    tag,
    summary: 'The entries of a resource, in the order they are asked',
    needs,
    query: OnResource,
    reply: AclEntries,
    handle: async ({ query }) => {
      const resource = parseResourcePath(query.resource)
      return resource === undefined ? [] : toWire(resource, await acl.entriesOn(resource))
    },
  }),
  route({
    method: 'PUT',
    path: '/acl/resource',
    tag,
    summary: 'Replace all entries of a resource; for a workspace share-advanced on it is needed as well',
    needs,
    query: OnResource,
    body: NewAclEntries,
    bodyLimitBytes: LIST_LIMIT_BYTES,
    reply: AclEntries,
    refusals: ['bad_request'],
    handle: async ({ caller, query, body, request }) => {
      const resource = requireInTree(query.resource)
      return toWire(resource, await acl.replace({ actor: caller, request }, resource, () => fromWire(body)))
    },
  }),
]
