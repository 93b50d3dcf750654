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
  /** Epoch seconds. */
  readonly createdAt: number
}

export type SetupState = 'pending' | 'complete' | 'failed'
export type EgressMode = 'interactive' | 'static' | 'allow'

export interface HealthCheck {
  readonly command: string
  /** In seconds, as the next two; the server's own values where absent. */
  readonly interval?: number
  readonly timeout?: number
  readonly grace?: number
}

/** What a workspace sets for itself; what is absent follows the server's settings. */
export interface WorkspaceSettings {
  /** Seconds; 0 for never. */
  readonly idle_timeout?: number
  /** Seconds. */
  readonly bridge_timeout?: number
  readonly cpu_limit?: number
  /** As in `512m`. */
  readonly memory_limit?: string
  readonly pids_limit?: number
  readonly tmp_size?: string
  readonly nix?: boolean
  readonly allow_sudo?: boolean
}
