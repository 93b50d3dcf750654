import { AppError } from '../../kernel/app-error.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AclEntry } from '../acl/entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { GroupService } from '../groups/group-service.ts'
import { ownerEntry } from './new-workspace.ts'
import { requirePerson } from './person.ts'
import type { SharingStore } from './sharing-store.ts'
import type { Workspace } from './workspace.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import { resourceOf } from './workspace-resource.ts'
import type { WorkspaceStore } from './workspace-store.ts'
import type { Workspaces } from './workspaces.ts'

interface WorkspaceTransferParts {
  readonly storage: Storage
  readonly store: WorkspaceStore
  readonly sharing: SharingStore
  readonly workspaces: Workspaces
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly groups: GroupService
  readonly audit: Pick<AuditLog, 'record'>
}

/** Gives a workspace to another owner. The one before keeps nothing of it but what others share. */
export class WorkspaceTransfer {
  readonly #parts: WorkspaceTransferParts

  constructor(parts: WorkspaceTransferParts) {
    this.#parts = parts
  }

  async transfer(caller: Caller, id: string, identifier: string, request: RequestFacts): Promise<Workspace> {
    const { storage, store, sharing, workspaces, accounts, access, groups, audit } = this.#parts
    await workspaces.require(id)
    const target = await requirePerson(accounts, identifier)
    return storage.transaction(async (tx) => {
      const { ownerId: before, name } = await workspaces.require(id, tx)
      const { disabled } = await accounts.require(target.id, tx)
      if (target.id === before) throw new AppError('conflict', 'Target user is already the owner')
      // An account that is being deleted is disabled first, and would take the workspace along.
      if (disabled) throw new AppError('conflict', 'The account of the target user is disabled')
      if (await store.hasName(tx, target.id, name)) {
        throw new AppError('conflict', `Target user already owns a workspace named '${name}'`)
      }
      const audience = await sharing.audience(tx, id)
      await store.update(tx, id, { ownerId: target.id })
      const entries = await access.entriesWithin(tx, resourceOf(id))
      await access.replace(tx, resourceOf(id), withOwner(entries, before, target.id))
      const owners = (await sharing.roleGroups(tx, id)).find(({ role }) => role === 'owners')
      if (owners) {
        await groups.leave(tx, owners.id, before)
        await groups.join(tx, owners.id, target.id)
      }
      const detail = { to: target.id, from: before }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.transfer', id, detail))
      workspaces.noteChange(tx, id, [before, target.id, caller.userId, ...audience])
      return workspaces.require(id, tx)
    })
  }
}

/** The new owner's entry stands where the old one stood, or first; what else named the new owner is covered by it. */
export function withOwner(entries: readonly AclEntry[], before: string, after: string): AclEntry[] {
  const isOwnerEntry = (entry: AclEntry) => names(entry, before) && entry.action === 'allow' && entry.permission === '*'
  const place = entries.findIndex(isOwnerEntry)
  const kept = (list: readonly AclEntry[]) => list.filter((entry) => !names(entry, after) && !isOwnerEntry(entry))
  return [...kept(entries.slice(0, Math.max(place, 0))), ownerEntry(after), ...kept(entries.slice(Math.max(place, 0)))]
}

const names = ({ principal }: AclEntry, userId: string): boolean => principal.kind === 'user' && principal.id === userId
