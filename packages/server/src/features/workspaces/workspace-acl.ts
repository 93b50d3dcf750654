import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AclService } from '../acl/acl-service.ts'
import type { AclEntry } from '../acl/entry.ts'
import type { SharingStore } from './sharing-store.ts'
import { resourceOf } from './workspace-resource.ts'
import type { Workspaces } from './workspaces.ts'

type NamedEntries = Awaited<ReturnType<AclService['entriesOn']>>

/** The entries of a workspace as they are, for those who want more than shares and roles. */
export class WorkspaceAcl {
  readonly #parts: { storage: Storage; sharing: SharingStore; workspaces: Workspaces; acl: AclService }

  constructor(parts: { storage: Storage; sharing: SharingStore; workspaces: Workspaces; acl: AclService }) {
    this.#parts = parts
  }

  async entries(id: string): Promise<NamedEntries> {
    const { workspaces, acl } = this.#parts
    await workspaces.require(id)
    return acl.entriesOn(resourceOf(id))
  }

  async replace(
    caller: Caller,
    id: string,
    entries: readonly AclEntry[],
    request: RequestFacts,
  ): Promise<NamedEntries> {
    const { storage, sharing, workspaces, acl } = this.#parts
    return storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      const before = await sharing.audience(tx, id)
      const target = { targetType: 'workspace', targetId: id } as const
      const origin = { actor: caller, request }
      const replaced = await acl.replaceWithin(tx, origin, { resource: resourceOf(id), entries, target })
      workspaces.noteChange(tx, id, [caller.userId, ...before, ...(await sharing.audience(tx, id))])
      return replaced
    })
  }
}
