import { HealthCheck, WorkspaceSettings } from '@svc/protocol/workspaces'
import type { Insertable, Selectable, Updateable } from 'kysely'
import * as z from 'zod'
import type { WorkspacesTable } from '../../storage/database.ts'
import type { Workspace } from './workspace.ts'

/** What may be changed of a workspace. */
export type WorkspaceChange = Partial<Omit<Workspace, 'id' | 'createdAt'>>

const Texts = z.array(z.string())
const Env = z.record(z.string(), z.string())

/** Rows to workspaces. */
export function fromRow(row: Selectable<WorkspacesTable>): Workspace {
  return {
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    containerId: row.container_id,
    numPorts: row.num_ports,
    image: row.image,
    serviceCommand: row.service_command,
    autoStart: row.auto_start === 1,
    setupState: row.setup_state,
    healthCheck: stored(HealthCheck, row.health_check),
    mounts: stored(Texts, row.mounts),
    env: stored(Env, row.env),
    allowedDomains: stored(Texts, row.allowed_domains),
    rejectedDomains: stored(Texts, row.rejected_domains),
    settings: stored(WorkspaceSettings, row.settings),
    egressMode: row.egress_mode,
    perHandleHome: row.per_handle_home === 1,
    classificationBanner: row.classification_banner,
    hostedPublic: row.hosted_public === 1,
    createdAt: row.created_at,
  }
}

export function toRow(workspace: Workspace): Insertable<WorkspacesTable> {
  return {
    id: workspace.id,
    owner_id: workspace.ownerId,
    name: workspace.name,
    container_id: workspace.containerId,
    num_ports: workspace.numPorts,
    image: workspace.image,
    service_command: workspace.serviceCommand,
    auto_start: bit(workspace.autoStart),
    setup_state: workspace.setupState,
    health_check: json(workspace.healthCheck),
    mounts: json(workspace.mounts),
    env: json(workspace.env),
    allowed_domains: json(workspace.allowedDomains),
    rejected_domains: json(workspace.rejectedDomains),
    settings: json(workspace.settings),
    egress_mode: workspace.egressMode,
    per_handle_home: bit(workspace.perHandleHome),
    classification_banner: workspace.classificationBanner,
    hosted_public: bit(workspace.hostedPublic),
    created_at: workspace.createdAt,
  }
}

/** The columns of what changes, and of nothing else. */
export function toColumns(change: WorkspaceChange): Updateable<WorkspacesTable> {
  return {
    ...(change.ownerId === undefined ? {} : { owner_id: change.ownerId }),
    ...(change.name === undefined ? {} : { name: change.name }),
    ...(change.containerId === undefined ? {} : { container_id: change.containerId }),
    ...(change.numPorts === undefined ? {} : { num_ports: change.numPorts }),
    ...(change.image === undefined ? {} : { image: change.image }),
    ...(change.serviceCommand === undefined ? {} : { service_command: change.serviceCommand }),
    ...(change.autoStart === undefined ? {} : { auto_start: bit(change.autoStart) }),
    ...(change.setupState === undefined ? {} : { setup_state: change.setupState }),
    ...(change.healthCheck === undefined ? {} : { health_check: json(change.healthCheck) }),
    ...(change.mounts === undefined ? {} : { mounts: json(change.mounts) }),
    ...(change.env === undefined ? {} : { env: json(change.env) }),
    ...(change.allowedDomains === undefined ? {} : { allowed_domains: json(change.allowedDomains) }),
    ...(change.rejectedDomains === undefined ? {} : { rejected_domains: json(change.rejectedDomains) }),
    ...(change.settings === undefined ? {} : { settings: json(change.settings) }),
    ...(change.egressMode === undefined ? {} : { egress_mode: change.egressMode }),
    ...(change.perHandleHome === undefined ? {} : { per_handle_home: bit(change.perHandleHome) }),
    ...(change.classificationBanner === undefined ? {} : { classification_banner: change.classificationBanner }),
    ...(change.hostedPublic === undefined ? {} : { hosted_public: bit(change.hostedPublic) }),
  }
}

const bit = (value: boolean): number => (value ? 1 : 0)

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))

const stored = <T>(schema: z.ZodType<T>, text: string | null): T | null =>
  text === null ? null : schema.parse(JSON.parse(text))
