import { AppError } from '../../kernel/app-error.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { Subject } from '../acl/entry.ts'
import { isAdmin, type Standing } from './account.ts'

/**
 * Refuses to let somebody who is no administrator manage what may do more to the server than they may themselves: the
 * right to manage users, or groups, would otherwise be the right to everything.
 */
export async function requireRank(
  access: AccessControl,
  managed: Subject,
  manager: Standing | undefined,
): Promise<void> {
  if (manager && (isAdmin(manager) || !(await access.outranks(managed, manager)))) return
  throw new AppError('permission_denied', 'Only administrators can change who may do more than you')
}
