import { type Permission, permissions } from '@svc/protocol/permissions'
import type { Kysely, Transaction } from 'kysely'
import { Announcer } from '../../kernel/announcer.ts'
import { ReadCache } from '../../kernel/read-cache.ts'
import { whenCommitted, whenOver } from '../../storage/aftermath.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AclStore } from './acl-store.ts'
import { decide, type EntriesOn, permissionsOn } from './decide.ts'
import type { AclEntry, Subject } from './entry.ts'
import { ancestorsOf, type ResourcePath, staticResources } from './resource-path.ts'

type Tx = Transaction<Database>

const NODES_KEPT = 10_000

/** What everybody may do unless an operator says otherwise; to lack one of these makes nobody less. */
const COMMON: readonly Permission[] = ['view', 'create-workspace', 'search-users', 'view-images']
const UNCOMMON = permissions.filter((permission) => !COMMON.includes(permission))

/** Who may do what to which resource. Decides from memory; the database is asked once for each node. */
export class AccessControl {
  /** Entries changed: what was decided before must be decided again. */
  readonly changed = new Announcer<{ resource: ResourcePath | 'any' }>()
  readonly #store: AclStore
  readonly #nodes: ReadCache<readonly AclEntry[]>

  constructor(parts: { storage: Storage; store: AclStore }) {
    this.#store = parts.store
    const load = (node: string) => parts.store.entriesOn(parts.storage.db, node as ResourcePath) // keys are paths
    this.#nodes = new ReadCache({ capacity: NODES_KEPT, load })
  }

  /** From memory, or undefined when entries must be read first. */
  peekAllows(subject: Subject, permission: Permission, resource: ResourcePath): boolean | undefined {
    for (const node of ancestorsOf(resource)) if (!this.#nodes.peek(node)) return undefined
    return decide(subject, permission, resource, (node) => this.#nodes.peek(node) ?? []).allowed
  }

  async allows(subject: Subject, permission: Permission, resource: ResourcePath): Promise<boolean> {
    return decide(subject, permission, resource, await this.#entriesFor(resource)).allowed
  }

  /** Everything somebody may do to a resource, in the order of the vocabulary. */
  async permissionsOn(subject: Subject, resource: ResourcePath): Promise<Permission[]> {
    return permissionsOn(subject, resource, await this.#entriesFor(resource))
  }

  /** Whether `one` may do something, to the server or to all workspaces, that `other` may not. Reads past the memory. */
  async outranks(one: Subject, other: Subject, queries: Kysely<Database>): Promise<boolean> {
    const entries = new Map<ResourcePath, readonly AclEntry[]>()
    for (const node of staticResources) entries.set(node, await this.#store.entriesOn(queries, node))
    const entriesOn: EntriesOn = (node) => entries.get(node) ?? []
    return staticResources.some((resource) =>
      UNCOMMON.some(
        (permission) =>
          decide(one, permission, resource, entriesOn).allowed &&
          !decide(other, permission, resource, entriesOn).allowed,
      ),
    )
  }

  /** Whether an entry keeps the members of a group from something. */
  deniesTo(groupId: string, queries: Kysely<Database>): Promise<boolean> {
    return this.#store.deniesTo(queries, groupId)
  }

  async entriesOn(resource: ResourcePath): Promise<readonly AclEntry[]> {
    return (await this.#nodes.get(resource)) ?? []
  }

  /** As the transaction sees them, past the memory: for changes that build on what is there. */
  entriesWithin(tx: Tx, resource: ResourcePath): Promise<readonly AclEntry[]> {
    return this.#store.entriesOn(tx, resource)
  }

  async replace(tx: Tx, resource: ResourcePath, entries: readonly AclEntry[]): Promise<void> {
    await this.#store.replace(tx, resource, entries)
    whenOver(tx, () => this.#nodes.forget(resource))
    whenCommitted(tx, () => this.changed.announce({ resource }))
  }

  /** To be called where rows went with the user or group they named. */
  noteCascade(tx: Tx): void {
    whenOver(tx, () => this.#nodes.clear())
    whenCommitted(tx, () => this.changed.announce({ resource: 'any' }))
  }

  isUnseeded(tx: Tx): Promise<boolean> {
    return this.#store.isEmpty(tx)
  }

  /** The entries of a resource and of everything above it, all of them at hand before the decision is made. */
  async #entriesFor(resource: ResourcePath): Promise<EntriesOn> {
    const held = new Map<ResourcePath, readonly AclEntry[]>()
    for (const node of ancestorsOf(resource)) {
      held.set(node, this.#nodes.peek(node) ?? (await this.entriesOn(node)))
    }
    return (node) => held.get(node) ?? []
  }
}
