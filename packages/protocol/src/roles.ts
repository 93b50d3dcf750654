import type { Permission } from './permissions.ts'

/** What a person can be in a workspace, in the order clients list it. Each is a group of its own in each workspace. */
export const roles = ['owners', 'coders', 'collaborators', 'spectators'] as const

export type Role = (typeof roles)[number]

const coderPermissions = [
  'monitor-workspace',
  'join-workspace',
  'terminal',
  'start-workspace',
  'stop-workspace',
  'restart-workspace',
  'egress-consent',
  'code-in-isolation',
  'exec-and-sync',
  'spectate-on-shared-terminals',
  'files-view',
  'files-download',
  'files-write',
] as const satisfies readonly Permission[]

/** What the role groups of a new workspace are allowed there. An owner may change it later. */
export const rolePermissions: Readonly<Record<Role, readonly Permission[]>> = {
  owners: ['*'],
  coders: coderPermissions,
  collaborators: [...coderPermissions, 'code-in-shared-terminals', 'share-terminals'],
  spectators: ['monitor-workspace', 'join-workspace', 'terminal', 'spectate-on-shared-terminals'],
}

/** What a workspace shared with one person allows them. */
export const userSharePermissions: readonly Permission[] = [
  'view',
  'monitor-workspace',
  'join-workspace',
  'terminal',
  'files-view',
  'files-download',
  'files-write',
]

/** What a workspace shared with a group allows its members: the same without `monitor-workspace`. */
export const groupSharePermissions: readonly Permission[] = [
  'view',
  'join-workspace',
  'terminal',
  'files-view',
  'files-download',
  'files-write',
]

export const isRole = (word: string): word is Role => roles.some((role) => role === word)

export const roleGroupName = (role: Role, workspaceId: string): string => `${role}-${workspaceId}`

/** Other members read it in lists of groups, so it names the workspace by its id alone. */
export const roleGroupDescription = (role: Role, workspaceId: string): string => `${role} of workspace ${workspaceId}`

/**
 * The role and workspace behind a role group's name. A group made by hand may have such a name too: only its source
 * tells that it is a role group.
 */
export function parseRoleGroupName(name: string): { role: Role; workspaceId: string } | undefined {
  const dash = name.indexOf('-')
  const role = name.slice(0, dash)
  const workspaceId = name.slice(dash + 1)
  return dash > 0 && isRole(role) && workspaceId !== '' ? { role, workspaceId } : undefined
}
