import { MAX_ACL_ENTRIES } from '@svc/protocol/acl'
import type { Permission } from '@svc/protocol/permissions'
import { groupSharePermissions, userSharePermissions } from '@svc/protocol/roles'
import type { Transaction } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AclEntry, Principal } from '../acl/entry.ts'
import { mayNameGroup } from '../acl/replace-rules.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { requirePerson } from './person.ts'
import type { NamedGroup, Sharer, SharingStore } from './sharing-store.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import { resourceOf } from './workspace-resource.ts'
import type { Workspaces } from './workspaces.ts'

type Tx = Transaction<Database>
type Named = Extract<Principal, { id: string }>

interface WorkspaceSharingParts {
  readonly storage: Storage
  readonly sharing: SharingStore
  readonly workspaces: Workspaces
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly audit: Pick<AuditLog, 'record'>
}

/** Shares a workspace with single people and with groups: a fixed set of permissions each. */
export class WorkspaceSharing {
  readonly #parts: WorkspaceSharingParts

  constructor(parts: WorkspaceSharingParts) {
    this.#parts = parts
  }

  /** In the order of their addresses; the owner is none of them. */
  async members(id: string): Promise<Sharer[]> {
    const { storage, sharing, workspaces } = this.#parts
    const { ownerId } = await workspaces.require(id)
    return (await sharing.members(storage.db, id)).filter((member) => member.id !== ownerId)
  }

  async addMember(caller: Caller, id: string, identifier: string, request: RequestFacts): Promise<Account> {
    const { storage, workspaces, accounts, audit } = this.#parts
    await workspaces.require(id)
    const account = await requirePerson(accounts, identifier)
    if (account.id === caller.userId) throw new AppError('bad_request', 'Cannot share with yourself')
    await storage.transaction(async (tx) => {
      const { ownerId } = await workspaces.require(id, tx)
      await accounts.require(account.id, tx)
      if (account.id === ownerId) throw new AppError('conflict', 'This user owns the workspace')
      await this.#append(tx, id, { kind: 'user', id: account.id }, userSharePermissions)
      const detail = { member: account.id }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.member.add', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, account.id])
    })
    return account
  }

  /** Whoever has no share loses none, and that is no error. */
  async removeMember(caller: Caller, id: string, userId: string, request: RequestFacts): Promise<void> {
    const { storage, workspaces, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const { ownerId } = await workspaces.require(id, tx)
      if (userId === ownerId) throw new AppError('bad_request', 'The owner cannot be removed')
      if (!(await this.#drop(tx, id, { kind: 'user', id: userId }))) return
      const detail = { member: userId }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.member.remove', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, userId])
    })
  }

  /** Every group the entries name, those of the roles included, in the order they are named. */
  async groups(id: string): Promise<NamedGroup[]> {
    const { storage, sharing, workspaces } = this.#parts
    await workspaces.require(id)
    return sharing.groups(storage.db, id)
  }

  async addGroup(caller: Caller, id: string, groupId: string, request: RequestFacts): Promise<NamedGroup> {
    const { storage, sharing, workspaces, audit } = this.#parts
    return storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      const group = await sharing.findGroup(tx, groupId)
      if (!group) throw new AppError('not_found', 'Group not found')
      if (!mayNameGroup(resourceOf(id), group)) {
        throw new AppError('bad_request', `${group.name} can be named only on its own workspace`)
      }
      await this.#append(tx, id, { kind: 'group', id: groupId }, groupSharePermissions)
      const detail = { group_id: groupId }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.group.add', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, ...(await this.#memberIds(tx, groupId))])
      return group
    })
  }

  /** A group without a share loses none, and that is no error. */
  async removeGroup(caller: Caller, id: string, groupId: string, request: RequestFacts): Promise<void> {
    const { storage, workspaces, audit } = this.#parts
    await storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      if (!(await this.#drop(tx, id, { kind: 'group', id: groupId }))) return
      const detail = { group_id: groupId }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.group.remove', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, ...(await this.#memberIds(tx, groupId))])
    })
  }

  async #memberIds(tx: Tx, groupId: string): Promise<string[]> {
    return (await this.#parts.sharing.membersOfGroups(tx, [groupId])).map((member) => member.id)
  }

  /** Behind all that is there, so that what somebody put there by hand stays first. */
  async #append(tx: Tx, id: string, principal: Named, permissions: readonly Permission[]): Promise<void> {
    const { access } = this.#parts
    const entries = await access.entriesWithin(tx, resourceOf(id))
    if (entries.some((entry) => entry.action === 'allow' && isFor(entry, principal))) {
      throw new AppError('conflict', `The workspace is already shared with this ${principal.kind}`)
    }
    const added = permissions.map((permission) => ({ action: 'allow' as const, principal, permission }))
    if (entries.length + added.length > MAX_ACL_ENTRIES) {
      throw new AppError('conflict', 'The workspace has all the shares it can have: share it with a group instead')
    }
    await access.replace(tx, resourceOf(id), [...entries, ...added])
  }

  /** Every entry that names them. False when none did. */
  async #drop(tx: Tx, id: string, principal: Named): Promise<boolean> {
    const { access } = this.#parts
    const entries = await access.entriesWithin(tx, resourceOf(id))
    const kept = entries.filter((entry) => !isFor(entry, principal))
    if (kept.length === entries.length) return false
    await access.replace(tx, resourceOf(id), kept)
    return true
  }
}

const isFor = (entry: AclEntry, { kind, id }: Named): boolean =>
  entry.principal.kind === kind && 'id' in entry.principal && entry.principal.id === id
