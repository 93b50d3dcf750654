import { randomUUID } from 'node:crypto'
import type { CreateWorkspace, UpdateWorkspace } from '@svc/protocol/workspaces'
import type { Transaction } from 'kysely'
import type { Settings } from '../../config/settings.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Caller, RequestFacts } from '../../kernel/route.ts'
import type { Database } from '../../storage/database.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { AccessControl } from '../acl/access-control.ts'
import type { AuditEntry, Origin } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { GroupService } from '../groups/group-service.ts'
import { withoutVolumes } from './mounts.ts'
import { insertWorkspace } from './new-workspace.ts'
import { mergeSettings } from './settings-bag.ts'
import type { SharingStore } from './sharing-store.ts'
import type { Workspace, WorkspaceSettings } from './workspace.ts'
import { aboutWorkspace } from './workspace-audit.ts'
import type { WorkspaceChange } from './workspace-columns.ts'
import type { Configuration, ConfigurationRules } from './workspace-configuration.ts'
import { copyName, nameTaken } from './workspace-name.ts'
import type { WorkspaceStore } from './workspace-store.ts'
import type { Workspaces } from './workspaces.ts'

type Tx = Transaction<Database>

interface Making {
  /** How the workspace came to be, as the audit trail says it. */
  readonly via: 'create' | 'import' | 'duplicate'
  /** Where its home is there already. */
  readonly id?: string
  /** Recorded with it: what led to it is in the audit trail exactly when it is there. */
  readonly after?: readonly AuditEntry[]
}

/** What cannot be taken away, only replaced. */
const NEVER_NULL = ['name', 'setup_state', 'egress_mode'] as const

interface WorkspaceOperationsParts {
  readonly storage: Storage
  readonly store: WorkspaceStore
  readonly sharing: SharingStore
  readonly workspaces: Workspaces
  readonly rules: ConfigurationRules
  readonly accounts: Accounts
  readonly access: AccessControl
  readonly groups: GroupService
  readonly audit: Pick<AuditLog, 'record'>
  readonly settings: () => Pick<Settings, 'containers' | 'hosting'>
  /** Starts a workspace that was made to start by itself; `externalUrl` is where its owner found this server. */
  readonly start: (workspaceId: string, ownerId: string, externalUrl: string) => Promise<unknown>
  readonly background: Background
  readonly clock: Clock
}

/** Making workspaces and changing what they are. */
export class WorkspaceOperations {
  readonly #parts: WorkspaceOperationsParts

  constructor(parts: WorkspaceOperationsParts) {
    this.#parts = parts
  }

  /** The caller becomes its owner. */
  async create(
    caller: Caller,
    { name, ...written }: CreateWorkspace,
    request: RequestFacts,
    making: Making = { via: 'create' },
  ): Promise<Workspace> {
    const { rules } = this.#parts
    const { defaults } = rules
    const perHandleHome = written.per_handle_home ?? undefined // null follows the server, too
    const wanted = rules.read({ ...written, per_handle_home: perHandleHome }, defaults)
    await rules.requireOffered(wanted, defaults)
    return this.#insert(caller, { ...defaults, ...wanted }, request, making, async () => name)
  }

  /**
   * A workspace of the caller's own with the same configuration, without files, shares and ports. Volumes stay behind
   * like the files: each is for one workspace, and a copy that names the original's could never start.
   */
  async duplicate(caller: Caller, id: string, name: string | null, request: RequestFacts): Promise<Workspace> {
    const { store, workspaces, rules, settings } = this.#parts
    const original = await workspaces.require(id)
    const copied: Configuration = {
      ...configurationOf(original),
      autoStart: original.autoStart && settings().containers.allowAutostart,
      setupState: 'complete',
      mounts: withoutVolumes(original.mounts),
      hostedPublic: false, // what was opened to everybody is that one application, not whatever the copy will host
    }
    await rules.requireOffered(copied, original)
    return this.#insert(caller, copied, request, { via: 'duplicate' }, async (tx) => {
      await workspaces.require(id, tx)
      return name ?? copyName(original.name, await store.namesOf(tx, caller.userId))
    })
  }

  /** Only what is given changes. It takes effect with the next container. */
  async update(caller: Caller, id: string, body: UpdateWorkspace, request: RequestFacts): Promise<Workspace> {
    const { storage, store, workspaces, rules, audit } = this.#parts
    const fields = Object.entries(body).flatMap(([field, value]) => (value === undefined ? [] : [field]))
    const empty = NEVER_NULL.find((field) => body[field] === null)
    if (empty !== undefined) throw new AppError('bad_request', `Field '${empty}' cannot be null`)
    const present = await workspaces.require(id)
    if (fields.length === 0) throw new AppError('bad_request', 'No fields to update')
    const { name, ...written } = body
    const change: WorkspaceChange = { ...rules.read(written, present), ...(name == null ? {} : { name }) }
    await rules.requireOffered(change, present)
    return storage.transaction(async (tx) => {
      const { ownerId, name: before } = await workspaces.require(id, tx)
      if (change.name !== undefined && change.name !== before && (await store.hasName(tx, ownerId, change.name))) {
        throw nameTaken(change.name)
      }
      await store.update(tx, id, change)
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.update', id, { fields }))
      await this.#noteAll(tx, id, [caller.userId, ownerId])
      return workspaces.require(id, tx)
    })
  }

  /** Each key sets a setting, null takes it away, and what is absent stays. */
  async patchSettings(
    caller: Caller,
    id: string,
    patch: Readonly<Record<string, unknown>>,
    request: RequestFacts,
  ): Promise<WorkspaceSettings | null> {
    const { storage, store, workspaces, rules, audit } = this.#parts
    return storage.transaction(async (tx) => {
      const { ownerId, settings: stored } = await workspaces.require(id, tx)
      if (Object.keys(patch).length === 0) throw new AppError('bad_request', 'No settings to update')
      const settings = mergeSettings(stored, patch, { nixAvailable: rules.nixAvailable, stored })
      await store.update(tx, id, { settings })
      const detail = { fields: ['settings'], settings: Object.keys(patch) }
      await audit.record(tx, { actor: caller, request }, aboutWorkspace('workspace.update', id, detail))
      await this.#noteAll(tx, id, [caller.userId, ownerId])
      return settings
    })
  }

  async #insert(
    caller: Caller,
    configuration: Configuration,
    request: RequestFacts,
    { via, id = randomUUID(), after = [] }: Making,
    chooseName: (tx: Tx) => Promise<string>,
  ): Promise<Workspace> {
    const { storage, workspaces, audit, settings, clock, background, start } = this.#parts
    const origin: Origin = { actor: caller, request }
    const workspace = await storage.transaction(async (tx) => {
      const fresh: Workspace = {
        ...configuration,
        id,
        ownerId: caller.userId,
        name: await chooseName(tx),
        containerId: null,
        numPorts: settings().hosting.portsPerWorkspace,
        createdAt: clock.nowMs() / 1000,
      }
      await insertWorkspace(tx, fresh, this.#parts)
      const made = aboutWorkspace('workspace.create', fresh.id, { name: fresh.name, via })
      for (const entry of [...after, made]) await audit.record(tx, origin, entry)
      workspaces.noteChange(tx, fresh.id, [fresh.ownerId])
      return fresh
    })
    if (workspace.autoStart) {
      const { externalUrl } = request
      background.run('the first start of a new workspace', async () => {
        await start(workspace.id, workspace.ownerId, externalUrl)
      })
    }
    return workspace
  }

  async #noteAll(tx: Tx, id: string, userIds: readonly string[]): Promise<void> {
    const { workspaces, sharing } = this.#parts
    workspaces.noteChange(tx, id, [...userIds, ...(await sharing.audience(tx, id))])
  }
}

function configurationOf(workspace: Workspace): Configuration {
  const { id: _, ownerId: __, name: ___, containerId: ____, numPorts: _____, createdAt: ______, ...rest } = workspace
  return rest
}
