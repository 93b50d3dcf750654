import { systemAgent } from '@svc/protocol/system-agent'
import type { Settings } from '../../config/settings.ts'
import { workspaceDenied } from '../../kernel/frame-error.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Workspace } from '../workspaces/workspace.ts'

/** The home of everybody, unless each member has one: that of the user inside containers. */
export const SHARED_HOME = `/home/${systemAgent.handle}`

/** Where somebody is at home in a workspace. */
export interface UserHome {
  readonly path: string
  /** The member whose home must be there before it is used; undefined for the shared home, which always is. */
  readonly member: { readonly userId: string; readonly handle: string } | undefined
}

interface UserHomesParts {
  readonly accounts: Pick<Accounts, 'findStanding'>
  readonly settings: () => Pick<Settings['containers'], 'perHandleHome'>
}

export class UserHomes {
  readonly #parts: UserHomesParts

  constructor(parts: UserHomesParts) {
    this.#parts = parts
  }

  /** As things are now: a workspace may want a home for each member, and the server must allow it. */
  async homeOf(userId: string, { perHandleHome }: Pick<Workspace, 'perHandleHome'>): Promise<UserHome> {
    if (!perHandleHome || !this.#parts.settings().perHandleHome) return { path: SHARED_HOME, member: undefined }
    const standing = await this.#parts.accounts.findStanding(userId)
    if (!standing) throw workspaceDenied()
    const { handle } = standing
    return { path: `/home/${handle}`, member: { userId, handle } }
  }
}
