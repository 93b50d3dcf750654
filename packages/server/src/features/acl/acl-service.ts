import { systemAgent } from '@svc/protocol/system-agent'
import type { Transaction } from 'kysely'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AuditEntry, Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { AccessControl } from './access-control.ts'
import type { AclStore, Grant, NamedEntry } from './acl-store.ts'
import type { AclEntry, Principal } from './entry.ts'
import type { PrincipalStore } from './principal-store.ts'
import { digestOf, letsAdminsManage, letsTheSignedInView, mayNameGroup } from './replace-rules.ts'
import { isInTree, parseResourcePath, type ResourcePath, workspaceIdIn } from './resource-path.ts'

type Tx = Transaction<Database>

export interface Replacement {
  readonly resource: ResourcePath
  readonly entries: readonly AclEntry[]
  /** As what the audit trail lists it. */
  readonly target: Pick<AuditEntry, 'targetType' | 'targetId'>
}

interface AclServiceParts {
  readonly storage: Storage
  readonly store: AclStore
  readonly principals: PrincipalStore
  readonly access: Pick<AccessControl, 'allows' | 'replace'>
  readonly audit: Pick<AuditLog, 'record'>
  /** The name of the group that must not lose the tree. */
  readonly adminGroup: string
}

/**
 * Reading and rewriting the entries of the tree. What takes a transaction is for other features: they have checked that
 * the caller may, and all other rules are here.
 */
export class AclService {
  readonly #parts: AclServiceParts

  constructor(parts: AclServiceParts) {
    this.#parts = parts
  }

  /** Every entry that names a user or a group; none when there is no such one. */
  grantsOf(principal: Extract<Principal, { id: string }>): Promise<Grant[]> {
    return this.#parts.store.grantsOf(this.#parts.storage.db, principal)
  }

  entriesOn(resource: ResourcePath): Promise<NamedEntry[]> {
    return this.#parts.store.namedEntriesOn(this.#parts.storage.db, resource)
  }

  /** Every resource that has entries, and how many. */
  tree(): Promise<{ resource: string; entries: number }[]> {
    return this.#parts.store.counts(this.#parts.storage.db)
  }

  /** Rewrites the entries of any resource. Those of a workspace belong to it: the caller needs a say there as well. */
  async replace(
    origin: Origin & { readonly actor: Caller },
    resource: ResourcePath,
    read: () => readonly AclEntry[],
  ): Promise<NamedEntry[]> {
    await this.#requireSayInWorkspace(origin.actor, resource)
    const entries = read() // not before: who has no say learns nothing about what was wrong with the list
    const target = { targetType: 'acl', targetId: resource } as const
    return this.#parts.storage.transaction((tx) => this.replaceWithin(tx, origin, { resource, entries, target }))
  }

  /** The rules of every rewrite, and its audit row. */
  async replaceWithin(tx: Tx, origin: Origin, { resource, entries, target }: Replacement): Promise<NamedEntry[]> {
    const { store, access, audit } = this.#parts
    await this.#requirePrincipals(tx, resource, entries)
    await this.#requireWayBack(tx, resource, entries)
    await access.replace(tx, resource, entries)
    const detail = { entries: entries.length, digest: digestOf(entries) }
    await audit.record(tx, origin, { event: 'acl.replace', ...target, detail })
    return store.namedEntriesOn(tx, resource)
  }

  async #requireSayInWorkspace(caller: Caller, resource: ResourcePath): Promise<void> {
    const workspaceId = workspaceIdIn(resource)
    if (workspaceId === undefined) return
    const workspace: ResourcePath = `/workspaces/${workspaceId}`
    if (await this.#parts.access.allows(caller, 'share-advanced', workspace)) return
    throw new AppError('permission_denied', `share-advanced permission required on ${workspace}`)
  }

  async #requirePrincipals(tx: Tx, resource: ResourcePath, entries: readonly AclEntry[]): Promise<void> {
    const { principals } = this.#parts
    const users = await principals.knownUsers(tx, idsOf(entries, 'user'))
    const groups = await principals.groups(tx, idsOf(entries, 'group'))
    const groupById = new Map(groups.map((group) => [group.id, group]))
    for (const [position, { principal }] of entries.entries()) {
      if (principal.kind === 'user') {
        if (principal.id === systemAgent.id) refuse(position, 'the system agent cannot be given permissions')
        if (!users.has(principal.id)) refuse(position, 'no user has this id')
      } else if (principal.kind === 'group') {
        const group = groupById.get(principal.id)
        if (!group) refuse(position, 'no group has this id')
        if (!mayNameGroup(resource, group)) refuse(position, `${group.name} can be named only on its own workspace`)
      }
    }
  }

  /** These two lists could shut out the very people who would have to mend them, alone or together. */
  async #requireWayBack(tx: Tx, resource: ResourcePath, entries: readonly AclEntry[]): Promise<void> {
    if (resource !== '/' && resource !== '/acl') return
    if (resource === '/' && !letsTheSignedInView(entries)) {
      throw new AppError(
        'bad_request',
        '/ must keep an Allow of view or * for Authenticated that no entry ahead takes away',
      )
    }
    const { store, principals, adminGroup } = this.#parts
    const adminsId = await principals.findGroupId(tx, adminGroup)
    const onAcl = resource === '/acl' ? entries : await store.entriesOn(tx, '/acl')
    const onRoot = resource === '/' ? entries : await store.entriesOn(tx, '/')
    if (adminsId !== undefined && letsAdminsManage(adminsId, { onAcl, onRoot })) return
    throw new AppError('bad_request', `The group ${adminGroup} must keep manage-acls on /acl`)
  }
}

/** A place that entries can be put on. */
export function requireInTree(text: string): ResourcePath {
  const resource = parseResourcePath(text)
  if (resource !== undefined && isInTree(resource)) return resource
  throw new AppError('bad_request', 'resource must be a path of the tree, such as /users or /workspaces/<id>')
}

function refuse(position: number, why: string): never {
  throw new AppError('bad_request', `Entry ${position}: ${why}`)
}

const idsOf = (entries: readonly AclEntry[], kind: 'user' | 'group'): string[] =>
  entries.flatMap(({ principal }) => (principal.kind === kind ? [principal.id] : []))
