import type { Permission } from '@svc/protocol/permissions'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import { resourceOf } from '../workspaces/workspace-resource.ts'

interface WorkspaceRightsParts {
  readonly accounts: Pick<Accounts, 'peekStanding' | 'findStanding'>
  readonly access: Pick<AccessControl, 'allows'>
}

/** What somebody may do to a workspace at this moment. Groups are looked up each time: a socket may be open for days. */
export class WorkspaceRights {
  readonly #parts: WorkspaceRightsParts

  constructor(parts: WorkspaceRightsParts) {
    this.#parts = parts
  }

  async allows(userId: string, permission: Permission, workspaceId: string): Promise<boolean> {
    const { accounts, access } = this.#parts
    const standing = accounts.peekStanding(userId) ?? (await accounts.findStanding(userId))
    if (!standing || standing.disabled) return false
    return access.allows(standing, permission, resourceOf(workspaceId))
  }
}
