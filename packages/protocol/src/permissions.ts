/**
 * Everything a person can be allowed to do, in the order clients list it. `*` stands for all of them.
 * An access-control entry, a route and a socket frame can only name one of these.
 */
export const permissions = [
  'view',
  'monitor-workspace',
  'create-workspace',
  'duplicate-workspace',
  'edit-workspace',
  'delete-workspace',
  'start-workspace',
  'stop-workspace',
  'restart-workspace',
  'transfer-workspace',
  'join-workspace',
  'terminal',
  'egress-consent',
  'code-in-isolation',
  'exec-and-sync',
  'spectate-on-shared-terminals',
  'code-in-shared-terminals',
  'share-terminals',
  'files-view',
  'files-download',
  'files-write',
  'export-workspace',
  'share-workspace',
  'share-advanced',
  'manage-users',
  'manage-invitations',
  'manage-groups',
  'manage-server-schedule',
  'manage-acls',
  'manage-events',
  'manage-volumes',
  'view-volumes',
  'view-images',
  'search-users',
  '*',
] as const

export type Permission = (typeof permissions)[number]
