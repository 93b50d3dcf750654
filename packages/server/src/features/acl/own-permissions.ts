import type { Permission } from '@svc/protocol/permissions'
import type { Caller } from '../../kernel/route.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AccessControl } from './access-control.ts'
import type { NamedGroup, PrincipalStore } from './principal-store.ts'
import { parseResourcePath, type ResourcePath, staticResources } from './resource-path.ts'

export interface Overview {
  readonly groups: readonly NamedGroup[]
  /** In the order of the tree; a resource on which nothing is allowed is left out. */
  readonly permissions: ReadonlyMap<ResourcePath, readonly Permission[]>
  readonly isAdmin: boolean
}

interface OwnPermissionsParts {
  readonly storage: Storage
  readonly principals: PrincipalStore
  readonly access: Pick<AccessControl, 'permissionsOn'>
  /** The name of the group whose members run the installation. */
  readonly adminGroup: string
}

/** Tells people what they may do, so that clients offer nothing that would be refused. */
export class OwnPermissions {
  readonly #parts: OwnPermissionsParts

  constructor(parts: OwnPermissionsParts) {
    this.#parts = parts
  }

  /** On one resource, or on all that always exist. */
  async of(caller: Caller, resource: string | undefined): Promise<Overview> {
    const { storage, principals, access, adminGroup } = this.#parts
    const groups = await principals.groups(storage.db, caller.groupIds)
    const permissions = new Map<ResourcePath, readonly Permission[]>()
    for (const place of resource === undefined ? staticResources : placesAt(resource)) {
      const allowed = await access.permissionsOn(caller, place)
      if (allowed.length > 0) permissions.set(place, allowed)
    }
    return { groups, permissions, isAdmin: groups.some(({ name }) => name === adminGroup) }
  }
}

/** What is no path can be nowhere: a client that asks about it is told that it may do nothing. */
function placesAt(text: string): ResourcePath[] {
  const place = parseResourcePath(text)
  return place === undefined ? [] : [place]
}
