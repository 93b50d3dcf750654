import type { Transaction } from 'kysely'
import type { HomeStorage } from '../../engine/home-storage.ts'
import type { Background } from '../../kernel/background.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { GroupService } from '../groups/group-service.ts'
import type { AbandonedHomesStore } from './abandoned-homes-store.ts'
import type { SharingStore } from './sharing-store.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import type { WorkspaceStore } from './workspace-store.ts'
import type { Workspaces } from './workspaces.ts'

type Tx = Transaction<Database>
type Actor = { readonly type: 'user'; readonly id: string } | { readonly type: 'system' }

interface WorkspaceRemovalParts {
  readonly storage: Storage
  readonly store: WorkspaceStore
  readonly sharing: SharingStore
  readonly abandoned: AbandonedHomesStore
  readonly workspaces: Workspaces
  readonly access: AccessControl
  readonly groups: GroupService
  readonly audit: Pick<AuditLog, 'record'>
  /** Stops the container for good, does the work while nobody can start another, and forgets the workspace. */
  readonly lifecycle: {
    stopForGood<T>(
      workspaceId: string,
      by: { cause: 'delete' | 'logout'; actor: Actor },
      work: () => Promise<T>,
    ): Promise<T>
  }
  /** Keeps a workspace as an archive, for when its owner's account is deleted. */
  readonly archive: (workspaceId: string) => Promise<void>
  readonly homes: Pick<HomeStorage, 'remove' | 'sweep'>
  readonly background: Background
}

/**
 * Takes workspaces away: first the container, then the rows, then the files. Whatever interrupts it, nothing is left
 * that anybody could reach, and files that were left are removed by the next `begin`.
 */
export class WorkspaceRemoval {
  readonly #parts: WorkspaceRemovalParts

  constructor(parts: WorkspaceRemovalParts) {
    this.#parts = parts
  }

  async delete(caller: Caller, id: string, request: RequestFacts): Promise<void> {
    const { workspaces, lifecycle } = this.#parts
    await workspaces.require(id)
    const by = { cause: 'delete', actor: { type: 'user', id: caller.userId } } as const
    await lifecycle.stopForGood(id, by, () => this.#erase(id, { actor: caller, request }))
  }

  /** Archives and removes all that somebody owns. When one cannot be archived, it and those after it stay. */
  async deleteAllOf(ownerId: string, origin: Origin & { readonly actor: Caller }): Promise<void> {
    const { storage, workspaces, lifecycle, archive } = this.#parts
    const by = { cause: 'logout', actor: { type: 'user', id: origin.actor.userId } } as const
    for (const { id } of await workspaces.ownedBy(ownerId)) {
      await lifecycle.stopForGood(id, by, async () => {
        // Meanwhile somebody may have deleted it, or given it to another owner.
        const isTheirs = async (queries = storage.db) => (await workspaces.find(id, queries))?.ownerId === ownerId
        if (!(await isTheirs())) return
        await archive(id)
        await this.#erase(id, origin, isTheirs)
      })
    }
  }

  /** Removes the files that an earlier run of the server left. */
  async begin(): Promise<void> {
    const { storage, abandoned, homes, background } = this.#parts
    background.run('removing what is left of deleted workspaces', () => homes.sweep())
    for (const id of await abandoned.all(storage.db)) this.#removeHome(id)
  }

  async #erase(id: string, origin: Origin, mayErase?: (tx: Tx) => Promise<boolean>): Promise<void> {
    const erased = await this.#parts.storage.transaction(async (tx) => {
      if (mayErase && !(await mayErase(tx))) return false
      await this.#eraseRows(tx, id, origin)
      return true
    })
    if (erased) this.#removeHome(id)
  }

  async #eraseRows(tx: Tx, id: string, origin: Origin): Promise<void> {
    const { store, sharing, abandoned, workspaces, access, groups, audit } = this.#parts
    const { ownerId, name } = await workspaces.require(id, tx)
    workspaces.noteChange(tx, id, [
      ownerId,
      ...(origin.actor ? [origin.actor.userId] : []),
      ...(await sharing.audience(tx, id)),
    ])
    for (const place of await sharing.placesOf(tx, id)) await access.replace(tx, place, [])
    for (const group of await sharing.roleGroups(tx, id)) await groups.erase(tx, group.id)
    await store.delete(tx, id)
    await abandoned.add(tx, id)
    await audit.record(tx, origin, aboutWorkspace('workspace.delete', id, { name, owner_id: ownerId }))
  }

  /** Nobody waits for it: many files take a while, and nobody can reach them any more. */
  #removeHome(id: string): void {
    const { storage, abandoned, homes, background } = this.#parts
    background.run('removing the files of a deleted workspace', async () => {
      await homes.remove(id)
      await abandoned.remove(storage.db, id)
    })
  }
}
