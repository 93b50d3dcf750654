import * as z from 'zod'
import { permissions } from './permissions.ts'

/** Who may do what: the entries on the tree of resources, and what comes of them for the caller. */

/** Lists are read from their start for each decision, so they must stay short. */
export const MAX_ACL_ENTRIES = 500

const Action = z.literal([0, 1]).meta({ description: '0 denies, 1 allows' })
const PrincipalType = z.literal([0, 1, 2]).meta({ description: '0 system principal, 1 user, 2 group' })
const PermissionName = z.enum(permissions)
const Resource = z.string().meta({ description: 'A path such as `/users` or `/workspaces/<id>`' })

export const SystemPrincipal = z.enum(['Everyone', 'Authenticated'])
export type SystemPrincipal = z.infer<typeof SystemPrincipal>

/** One entry as a client writes it. */
export const NewAclEntry = z.object({
  action: Action,
  principal_type: PrincipalType,
  permission: PermissionName,
  user_id: z.string().nullish().meta({ description: 'When principal_type is 1' }),
  group_id: z.string().nullish().meta({ description: 'When principal_type is 2' }),
  system_principal: z
    .literal(['Everyone', 'Authenticated', 0, 1])
    .nullish()
    .meta({ description: 'When principal_type is 0; 0 is Everyone, 1 is Authenticated' }),
})
export type NewAclEntry = z.infer<typeof NewAclEntry>

export const NewAclEntries = z
  .array(NewAclEntry)
  .max(MAX_ACL_ENTRIES)
  .meta({ description: 'The first matching entry decides, so the order is part of the meaning' })

/** One entry as it is read, with its principal's name. */
export const AclEntry = z.object({
  resource: Resource,
  action: Action,
  principal_type: PrincipalType,
  permission: PermissionName,
  user_id: z.string().nullable(),
  group_id: z.string().nullable(),
  system_principal: SystemPrincipal.nullable(),
  position: z.int().meta({ description: 'From 0; lowest is asked first' }),
  principal: z.string().meta({ description: 'Email of the user, name of the group, Everyone or Authenticated' }),
})
export type AclEntry = z.infer<typeof AclEntry>

export const AclEntries = z.array(AclEntry)

const grant = { resource: Resource, action: Action, principal_type: PrincipalType, permission: PermissionName }

export const UserGrants = z.array(z.object({ ...grant, user_id: z.string() }))
export const GroupGrants = z.array(z.object({ ...grant, group_id: z.string() }))

export const AclTree = z.array(z.object({ resource: Resource, ace_count: z.int() }))
export type AclTree = z.infer<typeof AclTree>

export const MyPermissions = z.object({
  user_id: z.string(),
  email: z.string(),
  groups: z.array(z.object({ id: z.string(), name: z.string(), description: z.string().nullable() })),
  permissions: z
    .record(z.string(), z.array(PermissionName))
    .meta({ description: 'By resource; one on which nothing is allowed is left out' }),
  is_admin: z.boolean().meta({ description: 'Member of the group `admins`' }),
})
export type MyPermissions = z.infer<typeof MyPermissions>
