import type { Kysely } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Database } from '../../storage/database.ts'
import type { AccessControl } from '../acl/access-control.ts'
import { type GroupName, isAdmin } from './account.ts'

/** A person, or what somebody would be who is in those groups only. */
interface Ranked {
  readonly userId: string
  readonly groups: readonly GroupName[]
}

/**
 * Refuses to let somebody who is no administrator manage what may do more than they may themselves: the right to manage
 * users, or groups, would otherwise be the right to everything. Reads through `queries`, so that it can be
 * asked inside the transaction of the change.
 */
export async function requireRank(
  access: AccessControl,
  managed: Ranked,
  manager: Ranked,
  queries: Kysely<Database>,
): Promise<void> {
  if (isAdmin(manager) || !(await access.outranks(subject(managed), subject(manager), queries))) return
  throw new AppError('permission_denied', 'Only administrators can change who may do more than you')
}

const subject = ({ userId, groups }: Ranked) => ({ userId, groupIds: new Set(groups.map(({ id }) => id)) })
