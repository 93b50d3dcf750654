import type { Transaction } from 'kysely'
import type { HomeStorage } from '../../engine/home-storage.ts'
import type { Background } from '../../kernel/background.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import { FifoLock } from '../../storage/fifo-lock.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { GroupService } from '../groups/group-service.ts'
import type { AbandonedHome, AbandonedHomesStore } from './abandoned-homes-store.ts'
import type { SharingStore } from './sharing-store.ts'
import type { Workspace } from './workspace.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import type { WorkspaceStore } from './workspace-store.ts'
import type { Workspaces } from './workspaces.ts'

type Tx = Transaction<Database>
type Describe = (workspace: Workspace) => string | null
type Actor = { readonly type: 'user'; readonly id: string } | { readonly type: 'system' }

const removeOnly: Describe = () => null

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
  /** What an archive is to say of a workspace, for when its owner's account is deleted. */
  readonly describe: (workspace: Workspace) => string
  /** Keeps the home of a workspace that is gone as an archive. */
  readonly archive: (workspaceId: string, description: string, signal: AbortSignal) => Promise<void>
  readonly homes: Pick<HomeStorage, 'remove' | 'sweep'>
  readonly background: Background
}

/**
 * Takes workspaces away: first the container, then the rows, then the files. Whatever interrupts it, nothing is left
 * that anybody could reach, and files that were left are archived and removed by the next `begin`.
 */
export class WorkspaceRemoval {
  readonly #parts: WorkspaceRemovalParts
  /** An archive keeps the disk and a processor busy, so there is one at a time. */
  readonly #archiving = new FifoLock()
  readonly #ended = new AbortController()

  constructor(parts: WorkspaceRemovalParts) {
    this.#parts = parts
  }

  async delete(caller: Caller, id: string, request: RequestFacts): Promise<void> {
    const { workspaces, lifecycle } = this.#parts
    await workspaces.require(id)
    const by = { cause: 'delete', actor: { type: 'user', id: caller.userId } } as const
    await lifecycle.stopForGood(id, by, () => this.#erase(id, { actor: caller, request }, removeOnly))
  }

  /** Removes all that somebody owns. Their files become archives, for which nobody waits. */
  async deleteAllOf(ownerId: string, origin: Origin & { readonly actor: Caller }): Promise<void> {
    const { workspaces, lifecycle, describe } = this.#parts
    const by = { cause: 'logout', actor: { type: 'user', id: origin.actor.userId } } as const
    for (const { id } of await workspaces.ownedBy(ownerId)) {
      // Meanwhile somebody may have deleted it, or given it to another owner.
      const isTheirs = async (tx: Tx) => (await workspaces.find(id, tx))?.ownerId === ownerId
      await lifecycle.stopForGood(id, by, () => this.#erase(id, origin, describe, isTheirs))
    }
  }

  /** Takes up what an earlier run of the server left. */
  async begin(): Promise<void> {
    const { storage, abandoned, homes, background } = this.#parts
    background.run('removing what is left of deleted workspaces', () => homes.sweep())
    for (const home of await abandoned.all(storage.db)) this.#removeHome(home)
  }

  /** Breaks off the archive that is being made, because the server ends; the next `begin` makes it anew. */
  end(): void {
    this.#ended.abort()
  }

  async #erase(id: string, origin: Origin, describe: Describe, mayErase?: (tx: Tx) => Promise<boolean>): Promise<void> {
    const home = await this.#parts.storage.transaction(async (tx) => {
      if (mayErase && !(await mayErase(tx))) return undefined
      return this.#eraseRows(tx, id, origin, describe)
    })
    if (home) this.#removeHome(home)
  }

  async #eraseRows(tx: Tx, id: string, origin: Origin, describe: Describe): Promise<AbandonedHome> {
    const { store, sharing, abandoned, workspaces, access, groups, audit } = this.#parts
    const workspace = await workspaces.require(id, tx)
    const { ownerId, name } = workspace
    workspaces.noteChange(tx, id, [
      ownerId,
      ...(origin.actor ? [origin.actor.userId] : []),
      ...(await sharing.audience(tx, id)),
    ])
    for (const place of await sharing.placesOf(tx, id)) await access.replace(tx, place, [])
    for (const group of await sharing.roleGroups(tx, id)) await groups.erase(tx, group.id)
    await store.delete(tx, id)
    const home = { workspaceId: id, description: describe(workspace) }
    await abandoned.add(tx, home)
    await audit.record(tx, origin, aboutWorkspace('workspace.delete', id, { name, owner_id: ownerId }))
    return home
  }

  /** Nobody waits for it: many files take a while, and nobody can reach them any more. */
  #removeHome({ workspaceId: id, description }: AbandonedHome): void {
    const { storage, abandoned, homes, background } = this.#parts
    background.run(`removing the files of the deleted workspace ${id}`, async () => {
      if (description !== null && !(await this.#archive(id, description))) return
      await homes.remove(id)
      await abandoned.remove(storage.db, id)
    })
  }

  /** False when the server ends before it is done. */
  async #archive(id: string, description: string): Promise<boolean> {
    const { storage, abandoned, archive } = this.#parts
    const { signal } = this.#ended
    const release = await this.#archiving.acquire()
    try {
      if (signal.aborted) return false
      await archive(id, description, signal)
      // Before anything is removed: half a home must never replace the archive of a whole one.
      await abandoned.noteArchived(storage.db, id)
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    } finally {
      release()
    }
  }
}
