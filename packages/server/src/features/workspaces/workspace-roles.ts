import type { Permission } from '@svc/protocol/permissions'
import { isRole, type Role } from '@svc/protocol/roles'
import type { Transaction } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import { permissionsOn } from '../acl/decide.ts'
import type { AclEntry } from '../acl/entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { GroupService } from '../groups/group-service.ts'
import { requirePerson } from './person.ts'
import type { RoleGroup, Sharer, SharingStore } from './sharing-store.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import { resourceOf } from './workspace-resource.ts'
import type { Workspaces } from './workspaces.ts'

type Tx = Transaction<Database>

interface WorkspaceRolesParts {
  readonly storage: Storage
  readonly sharing: SharingStore
  readonly workspaces: Workspaces
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly groups: GroupService
  readonly audit: Pick<AuditLog, 'record'>
}

export interface RoleView extends RoleGroup {
  readonly members: readonly Sharer[]
  readonly permissions: readonly Permission[]
}

/** Who is what in a workspace. Each role is a group; what it may do is in the entries of the workspace. */
export class WorkspaceRoles {
  readonly #parts: WorkspaceRolesParts

  constructor(parts: WorkspaceRolesParts) {
    this.#parts = parts
  }

  async list(id: string): Promise<RoleView[]> {
    const { storage, sharing, workspaces, access } = this.#parts
    await workspaces.require(id)
    const groups = await sharing.roleGroups(storage.db, id)
    const members = await sharing.membersOfGroups(
      storage.db,
      groups.map((group) => group.id),
    )
    const entries = await access.entriesOn(resourceOf(id))
    return groups.map((group) => ({
      ...group,
      members: members.filter((member) => member.groupId === group.id),
      permissions: permissionsOfGroup(entries, group.id),
    }))
  }

  /** Their other roles stay. Who has the role keeps it, and that is no error. */
  async add(caller: Caller, id: string, word: string, identifier: string, request: RequestFacts): Promise<void> {
    const { storage, workspaces, accounts, groups, audit } = this.#parts
    await workspaces.require(id)
    const role = requireRole(word)
    await this.#requireGroup(storage.db, id, role)
    const { id: userId } = await requirePerson(accounts, identifier)
    await storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      const group = await this.#requireGroup(tx, id, role)
      await accounts.require(userId, tx)
      if (!(await groups.join(tx, group.id, userId))) return
      const detail = { member: userId, role }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.role.add', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, userId])
    })
  }

  /** The only role they have from now on; null for none. */
  async replace(
    caller: Caller,
    id: string,
    { email, role: word }: { email: string; role: string | null },
    request: RequestFacts,
  ): Promise<void> {
    const { storage, sharing, workspaces, accounts, groups, audit } = this.#parts
    await workspaces.require(id)
    const { id: userId } = await requirePerson(accounts, email)
    const role = word === null ? null : requireRole(word)
    await storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      await accounts.require(userId, tx)
      const chosen = role === null ? undefined : await this.#requireGroup(tx, id, role)
      const joined = chosen !== undefined && (await groups.join(tx, chosen.id, userId))
      const left: boolean[] = []
      for (const group of await sharing.roleGroups(tx, id)) {
        if (group.role !== role) left.push(await groups.leave(tx, group.id, userId))
      }
      if (!joined && !left.includes(true)) return
      const detail = { member: userId, role }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.role.change', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, userId])
    })
  }

  /** Who does not have the role does not lose it, and that is no error. */
  async remove(caller: Caller, id: string, word: string, userId: string, request: RequestFacts): Promise<void> {
    const { storage, workspaces, groups, audit } = this.#parts
    await workspaces.require(id)
    const role = requireRole(word)
    await storage.transaction(async (tx) => {
      await workspaces.require(id, tx)
      const group = await this.#requireGroup(tx, id, role)
      if (!(await groups.leave(tx, group.id, userId))) return
      const detail = { member: userId, role }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.role.remove', id, detail))
      workspaces.noteChange(tx, id, [caller.userId, userId])
    })
  }

  async #requireGroup(queries: Storage['db'] | Tx, id: string, role: Role): Promise<RoleGroup> {
    const group = (await this.#parts.sharing.roleGroups(queries, id)).find((other) => other.role === role)
    if (!group) throw new AppError('not_found', 'Role group not found')
    return group
  }
}

function requireRole(word: string): Role {
  if (!isRole(word)) throw new AppError('bad_request', `Invalid role: ${word}`)
  return word
}

/** What the entries of the workspace itself say about the group, in the order of the vocabulary. */
export function permissionsOfGroup(entries: readonly AclEntry[], groupId: string): Permission[] {
  const about = entries.filter(({ principal }) => principal.kind === 'group' && principal.id === groupId)
  return permissionsOn({ userId: '', groupIds: new Set([groupId]) }, '/', () => about)
}
