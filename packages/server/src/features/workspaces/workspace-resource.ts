import type { ResourcePath } from '../acl/resource-path.ts'

export const RESOURCE_PREFIX = '/workspaces/' as const

/** Where the entries of a workspace hang. */
export const resourceOf = (workspaceId: string): ResourcePath => `${RESOURCE_PREFIX}${workspaceId}`
