import type {
  EgressMode,
  SetupState,
  HealthCheck as WireHealthCheck,
  WorkspaceSettings as WireSettings,
} from '@svc/protocol/workspaces'

/** A configuration from which a container is made on demand. */
export interface Workspace {
  readonly id: string
  readonly ownerId: string
  /** No two of one owner are the same. */
  readonly name: string
  /** Of the container made for it last; null once that is known to be gone. */
  readonly containerId: string | null
  readonly numPorts: number
  /** Null for the default image. */
  readonly image: string | null
  readonly serviceCommand: string | null
  readonly autoStart: boolean
  readonly setupState: SetupState
  readonly healthCheck: HealthCheck | null
  /** `source:destination` or `source:destination:options`. */
  readonly mounts: readonly string[] | null
  readonly env: Readonly<Record<string, string>> | null
  readonly allowedDomains: readonly string[] | null
  readonly rejectedDomains: readonly string[] | null
  readonly settings: WorkspaceSettings | null
  readonly egressMode: EgressMode
  /** As asked for; only with the server's leave does each member really have a home. */
  readonly perHandleHome: boolean
  readonly classificationBanner: string | null
  /** Anybody may use what it hosts, without signing in. */
  readonly hostedPublic: boolean
  /** Epoch seconds. */
  readonly createdAt: number
}

export type { EgressMode, SetupState }

/** Times are in seconds; the server's own values where they are absent. */
export type HealthCheck = Readonly<WireHealthCheck>

/** What a workspace sets for itself; what is absent follows the server's settings. */
export type WorkspaceSettings = Readonly<WireSettings>
