import { rolePermissions, roles } from '@svc/protocol/roles'
import type { Transaction } from 'kysely'
import type { Database } from '../../storage/database.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { accountDisabled } from '../accounts/usable.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AclEntry } from '../acl/entry.ts'
import type { GroupService } from '../groups/group-service.ts'
import type { Workspace } from './workspace.ts'
import { nameTaken } from './workspace-name.ts'
import { resourceOf } from './workspace-resource.ts'
import type { WorkspaceStore } from './workspace-store.ts'

type Tx = Transaction<Database>

interface NewWorkspaceParts {
  readonly store: WorkspaceStore
  readonly accounts: Pick<Accounts, 'require'>
  readonly access: Pick<AccessControl, 'replace'>
  readonly groups: Pick<GroupService, 'createRoleGroup' | 'join'>
}

/** The entry that makes somebody the owner. */
export const ownerEntry = (userId: string): AclEntry => ({
  action: 'allow',
  principal: { kind: 'user', id: userId },
  permission: '*',
})

/** Puts a workspace into the database with all that belongs to it: its owner's entry, and the groups of its roles. */
export async function insertWorkspace(tx: Tx, workspace: Workspace, parts: NewWorkspaceParts): Promise<void> {
  const { store, accounts, access, groups } = parts
  const { id, ownerId, name } = workspace
  // An account on its way out is disabled first; what it makes now nobody would take away.
  if ((await accounts.require(ownerId, tx)).disabled) throw accountDisabled()
  if (await store.hasName(tx, ownerId, name)) throw nameTaken(name)
  await store.insert(tx, workspace)
  const entries = [ownerEntry(ownerId)]
  for (const role of roles) {
    const group = await groups.createRoleGroup(tx, role, id)
    const principal = { kind: 'group', id: group.id } as const
    entries.push(...rolePermissions[role].map((permission) => ({ action: 'allow' as const, principal, permission })))
    if (role === 'owners') await groups.join(tx, group.id, ownerId)
  }
  await access.replace(tx, resourceOf(id), entries)
}
