import { randomUUID } from 'node:crypto'
import type { ChangeGroup, CreateGroup } from '@svc/protocol/groups'
import { type Role, roleGroupDescription, roleGroupName } from '@svc/protocol/roles'
import type { Kysely, Transaction } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import { isAdmin, MEMBERS } from '../accounts/account.ts'
import { type Accounts, requireHuman } from '../accounts/accounts.ts'
import { requireRank } from '../accounts/rank.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AuditEntry, Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { type Group, type Member, requireDeletable, requireNameForPeople, requireRenamable } from './group.ts'
import type { GroupStore, GroupView } from './group-store.ts'

type Tx = Transaction<Database>

interface GroupServiceParts {
  readonly storage: Storage
  readonly store: GroupStore
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly audit: Pick<AuditLog, 'record'>
  readonly clock: Clock
}

/**
 * Groups and who is in them. What takes an `Origin` is a person's wish, with its rules and its audit row; what takes a
 * transaction is for other features, which know why they do it and record it themselves.
 */
export class GroupService {
  readonly #parts: GroupServiceParts

  constructor(parts: GroupServiceParts) {
    this.#parts = parts
  }

  /** Role groups tell which workspaces there are, so only those who manage groups see them. */
  async list(caller: Caller, view: GroupView): Promise<{ groups: Group[]; total: number }> {
    const { storage, store, access } = this.#parts
    const seesAll = view.source === 'manual' || (await access.allows(caller, 'manage-groups', '/groups'))
    return store.page(storage.db, seesAll ? view : { ...view, source: 'manual' })
  }

  async create(origin: Origin, { name, description }: CreateGroup): Promise<Group> {
    const { storage, store, audit } = this.#parts
    requireNameForPeople(name)
    const group: Group = {
      id: randomUUID(),
      name,
      description: description || null,
      source: 'manual',
      createdAt: this.#nowSeconds(),
    }
    await storage.transaction(async (tx) => {
      await this.#requireFree(tx, name)
      await store.insert(tx, group)
      await audit.record(tx, origin, about(group, 'group.create', { name }))
    })
    return group
  }

  async change(origin: Origin, id: string, change: ChangeGroup): Promise<void> {
    const { storage, store, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const group = await this.#require(tx, id)
      const name = change.name ?? group.name
      const description = (change.description ?? group.description) || null
      if ((change.name ?? change.description ?? undefined) === undefined) {
        throw new AppError('bad_request', 'No fields to update')
      }
      if (name !== group.name) {
        requireRenamable(group, name)
        await this.#requireRank(tx, origin, group)
        await this.#requireFree(tx, name)
        await this.#noteMembers(tx, id)
      }
      await store.update(tx, id, { name, description })
      await audit.record(tx, origin, about(group, 'group.update', { name, description }))
    })
  }

  async delete(origin: Origin, id: string): Promise<void> {
    const { storage, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const group = await this.#require(tx, id)
      requireDeletable(group)
      await this.#requireRank(tx, origin, group)
      await this.erase(tx, id)
      await audit.record(tx, origin, about(group, 'group.delete', { name: group.name }))
    })
  }

  async members(id: string): Promise<Member[]> {
    const { storage, store } = this.#parts
    await this.#require(storage.db, id)
    return store.members(storage.db, id)
  }

  /** Adding a member twice is not an error. */
  async addMember(origin: Origin, id: string, userId: string): Promise<void> {
    const { storage, accounts, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const group = await this.#require(tx, id)
      await this.#requireRank(tx, origin, group)
      requireHuman(userId)
      await accounts.require(userId, tx)
      if (!(await this.join(tx, id, userId))) return
      await audit.record(tx, origin, about(group, 'group.member.add', { user_id: userId }))
    })
  }

  async removeMember(origin: Origin, id: string, userId: string): Promise<void> {
    const { storage, audit } = this.#parts
    await storage.transaction(async (tx) => {
      const group = await this.#require(tx, id)
      await this.#requireRank(tx, origin, group)
      if (!(await this.leave(tx, id, userId))) throw new AppError('not_found', 'User is not a member of this group')
      await audit.record(tx, origin, about(group, 'group.member.remove', { user_id: userId }))
    })
  }

  async createRoleGroup(tx: Tx, role: Role, workspaceId: string): Promise<Group> {
    const group: Group = {
      id: randomUUID(),
      name: roleGroupName(role, workspaceId),
      description: roleGroupDescription(role, workspaceId),
      source: 'workspace-role',
      createdAt: this.#nowSeconds(),
    }
    await this.#parts.store.insert(tx, group)
    return group
  }

  /** False when they were a member before. The account and the group must exist. */
  async join(tx: Tx, groupId: string, userId: string): Promise<boolean> {
    requireHuman(userId)
    const joined = await this.#parts.store.addMember(tx, groupId, userId)
    if (joined) this.#parts.accounts.noteChange(tx, userId)
    return joined
  }

  /** False when they were no member. */
  async leave(tx: Tx, groupId: string, userId: string): Promise<boolean> {
    const left = await this.#parts.store.removeMember(tx, groupId, userId)
    if (left) this.#parts.accounts.noteChange(tx, userId)
    return left
  }

  /** Deletes a group with its memberships and every access-control entry that names it. */
  async erase(tx: Tx, groupId: string): Promise<void> {
    const { store, access } = this.#parts
    await this.#noteMembers(tx, groupId)
    await store.delete(tx, groupId)
    access.noteCascade(tx)
  }

  async #noteMembers(tx: Tx, groupId: string): Promise<void> {
    const { store, accounts } = this.#parts
    for (const userId of await store.memberIds(tx, groupId)) accounts.noteChange(tx, userId)
  }

  /**
   * Nobody puts themselves into a group that may do more than they may, or takes anybody out of one that keeps its
   * members from something. Roles in a workspace are for its sharing to give.
   */
  async #requireRank(tx: Tx, { actor }: Origin, group: Group): Promise<void> {
    const { accounts, access } = this.#parts
    if (!actor) return // the server itself
    const manager = { userId: actor.userId, groups: await accounts.groupsOf(actor.userId, tx) }
    if (isAdmin(manager)) return
    await requireRank(access, { userId: '', groups: [group] }, manager, tx)
    if (group.name === MEMBERS || group.source === 'workspace-role' || (await access.deniesTo(group.id, tx))) {
      throw new AppError('permission_denied', 'Only administrators can change this group')
    }
  }

  async #require(queries: Kysely<Database>, id: string): Promise<Group> {
    const group = await this.#parts.store.find(queries, { id })
    if (!group) throw new AppError('not_found', 'Group not found')
    return group
  }

  async #requireFree(tx: Tx, name: string): Promise<void> {
    if (await this.#parts.store.find(tx, { name })) {
      throw new AppError('conflict', 'A group with this name already exists')
    }
  }

  #nowSeconds(): number {
    return this.#parts.clock.nowMs() / 1000
  }
}

function about(group: Group, event: AuditEntry['event'], detail: Readonly<Record<string, unknown>>): AuditEntry {
  return { event, targetType: 'group', targetId: group.id, detail }
}
