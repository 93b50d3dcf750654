import { type Permission, permissions } from '@svc/protocol/permissions'
import type { AclEntry, Principal, Subject } from './entry.ts'
import { parentOf, type ResourcePath } from './resource-path.ts'

/** The entries on one place, in the order of their positions. */
export type EntriesOn = (node: ResourcePath) => readonly AclEntry[]

export interface Decision {
  readonly allowed: boolean
  /** The entry that decided; null when none matched, which denies. */
  readonly because: AclEntry | null
}

/**
 * Walks from `resource` up to `/`. The first matching entry decides; no match means denied.
 * Pure: the caller loads the entries, so every rule can be tested without a database.
 */
export function decide(
  subject: Subject,
  permission: Permission,
  resource: ResourcePath,
  entriesOn: EntriesOn,
): Decision {
  // Step by step: a list of all ancestors for each decision cost a fifth of the speed.
  for (let node: ResourcePath | undefined = resource; node !== undefined; node = parentOf(node)) {
    for (const entry of entriesOn(node)) {
      if (covers(entry, permission) && includes(entry.principal, subject)) {
        return { allowed: entry.action === 'allow', because: entry }
      }
    }
  }
  return { allowed: false, because: null }
}

/** Everything the subject may do on `resource`, in the order of the vocabulary. The same walk as for a single check. */
export function permissionsOn(subject: Subject, resource: ResourcePath, entriesOn: EntriesOn): Permission[] {
  return permissions.filter((permission) => decide(subject, permission, resource, entriesOn).allowed)
}

/** Who asks for `*` asks for everything at once, so a narrower entry says nothing about it. */
function covers(entry: AclEntry, permission: Permission): boolean {
  return entry.permission === permission || entry.permission === '*'
}

function includes(principal: Principal, subject: Subject): boolean {
  switch (principal.kind) {
    case 'everyone':
    case 'authenticated': // a subject is signed in, so these two say the same about it
      return true
    case 'user':
      return principal.id === subject.userId
    case 'group':
      return subject.groupIds.has(principal.id)
  }
}
