import type { GroupSource } from '@svc/protocol/groups'
import { parseRoleGroupName } from '@svc/protocol/roles'
import { AppError } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { ADMINS, MEMBERS } from '../accounts/account.ts'

/** People who are granted something together. `createdAt` is in epoch seconds. */
export interface Group {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly source: GroupSource
  readonly createdAt: number
}

export interface Member {
  readonly userId: string
  readonly email: string
  readonly handle: string
  /** Who put them there. */
  readonly source: string
}

/** Names that mean something to everybody. */
const BUILT_IN: readonly string[] = [ADMINS, MEMBERS]

/** A workspace yet to come must find the names of its roles free. */
export function requireNameForPeople(name: string): void {
  const folded = name.normalize('NFKC').toLowerCase()
  if (BUILT_IN.some((taken) => folded === taken && name !== taken)) {
    throw new AppError('bad_request', `'${name}' is too much like '${folded}'`)
  }
  const reserved = parseRoleGroupName(name)
  if (!reserved || !isUuid(reserved.workspaceId.toLowerCase())) return
  throw new AppError('bad_request', `Names like '${reserved.role}-<workspace id>' are kept for the roles of workspaces`)
}

/** Other parts of the server know these groups by their names. */
export function requireRenamable(group: Group, name: string): void {
  if (group.name === ADMINS) throw new AppError('bad_request', `The group '${ADMINS}' cannot be renamed`)
  if (name === ADMINS) throw new AppError('bad_request', `No other group can be named '${ADMINS}'`)
  if (group.source === 'workspace-role') {
    throw new AppError('bad_request', 'The name of a workspace role group cannot be changed')
  }
  requireNameForPeople(name)
}

export function requireDeletable(group: Group): void {
  if (group.name === ADMINS) throw new AppError('bad_request', `The group '${ADMINS}' cannot be deleted`)
}
