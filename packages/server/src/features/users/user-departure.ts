import type { Transaction } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Account } from '../accounts/account.ts'
import { type Accounts, requireHuman } from '../accounts/accounts.ts'
import { requireRank } from '../accounts/rank.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { WorkspaceRemoval } from '../workspaces/workspace-removal.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

type Tx = Transaction<Database>
type Request = Origin & { readonly actor: Caller }

interface UserDepartureParts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly sessions: Pick<Sessions, 'endAll'>
  readonly access: AccessControl
  readonly audit: Pick<AuditLog, 'record'>
  readonly workspaces: Pick<Workspaces, 'ownedBy'>
  readonly removal: Pick<WorkspaceRemoval, 'deleteAllOf'>
}

/** Deletes accounts with all they own. */
export class UserDeparture {
  readonly #parts: UserDepartureParts

  constructor(parts: UserDepartureParts) {
    this.#parts = parts
  }

  /**
   * Workspaces are stopped and removed one by one, which takes time, so the account is disabled first: nothing can be
   * added meanwhile. Whatever interrupts it, the account stays disabled, and the call can be made again. Their files
   * are archived afterwards, however long that takes.
   */
  async delete(caller: Caller, userId: string, request: RequestFacts): Promise<void> {
    const { storage, removal } = this.#parts
    if (userId === caller.userId) throw new AppError('bad_request', 'Cannot delete yourself')
    requireHuman(userId)
    const origin = { actor: caller, request }
    while (!(await storage.transaction((tx) => this.#deleteOrDisable(tx, origin, userId)))) {
      await removal.deleteAllOf(userId, origin)
    }
  }

  /** True when it is done; false when there are workspaces to remove first. */
  async #deleteOrDisable(tx: Tx, origin: Request, userId: string): Promise<boolean> {
    const { accounts, workspaces } = this.#parts
    const account = await accounts.require(userId, tx)
    await this.#requireRank(tx, origin.actor, userId)
    if ((await workspaces.ownedBy(userId, tx)).length === 0) {
      await this.#deleteAccount(tx, origin, account)
      return true
    }
    if (!account.disabled) await this.#disable(tx, origin, userId)
    return false
  }

  async #deleteAccount(tx: Tx, origin: Request, { id, email }: Account): Promise<void> {
    const { accounts, sessions, access, audit } = this.#parts
    await sessions.endAll(tx, id, origin, 'user-deleted')
    await accounts.delete(tx, id)
    access.noteCascade(tx)
    await audit.record(tx, origin, { event: 'user.delete', targetType: 'user', targetId: id, detail: { email } })
  }

  async #disable(tx: Tx, origin: Request, userId: string): Promise<void> {
    const { accounts, audit } = this.#parts
    await accounts.change(tx, userId, { disabled: true }, origin.actor)
    const detail = { fields: ['disabled'] }
    await audit.record(tx, origin, { event: 'user.update', targetType: 'user', targetId: userId, detail })
  }

  /** Nobody deletes their betters. */
  async #requireRank(tx: Tx, caller: Caller, userId: string): Promise<void> {
    const { accounts, access } = this.#parts
    const owner = { userId, groups: await accounts.groupsOf(userId, tx) }
    const manager = { userId: caller.userId, groups: await accounts.groupsOf(caller.userId, tx) }
    await requireRank(access, owner, manager, tx)
  }
}
