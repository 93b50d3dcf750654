import { createHash } from 'node:crypto'
import { parseRoleGroupName } from '@svc/protocol/roles'
import { decide } from './decide.ts'
import type { AclEntry, Subject } from './entry.ts'
import type { NamedGroup } from './principal-store.ts'
import { type ResourcePath, workspaceIdIn } from './resource-path.ts'

/** No account: only what is for everyone, the signed-in, or the groups is for it. */
const nobodyIn = (...groupIds: string[]): Subject => ({ userId: '', groupIds: new Set(groupIds) })

/**
 * Whether these entries on `/` let everybody in who is signed in: there is an Allow of `view` or `*` for Authenticated,
 * and nothing ahead of it takes it away.
 */
export function letsTheSignedInView(entriesOnRoot: readonly AclEntry[]): boolean {
  const hasEntry = entriesOnRoot.some(
    ({ action, principal, permission }) =>
      action === 'allow' && principal.kind === 'authenticated' && (permission === 'view' || permission === '*'),
  )
  return hasEntry && decide(nobodyIn(), 'view', '/', () => entriesOnRoot).allowed
}

/** Whether somebody who is in the group of administrators, and in no other, may still change entries. */
export function letsAdminsManage(
  adminsId: string,
  { onAcl, onRoot }: { onAcl: readonly AclEntry[]; onRoot: readonly AclEntry[] },
): boolean {
  return decide(nobodyIn(adminsId), 'manage-acls', '/acl', (node) => (node === '/acl' ? onAcl : onRoot)).allowed
}

/** A role group means something in its own workspace only, so nothing elsewhere may name it. */
export function mayNameGroup(resource: ResourcePath, { name, source }: Pick<NamedGroup, 'name' | 'source'>): boolean {
  if (source !== 'workspace-role') return true
  const workspaceId = workspaceIdIn(resource)
  return workspaceId !== undefined && parseRoleGroupName(name)?.workspaceId === workspaceId
}

/** Sixteen hex digits by which an auditor can tell whether two lists are the same. */
export function digestOf(entries: readonly AclEntry[]): string {
  const text = JSON.stringify(
    entries.map(({ action, principal, permission }) => [
      action,
      principal.kind,
      'id' in principal ? principal.id : null,
      permission,
    ]),
  )
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
