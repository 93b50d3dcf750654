import type { ContainerEventName, StartCause, StopCause } from '@svc/protocol/container-events'
import type { ContainerRole } from '../../engine/container-engine.ts'

/** Something that happened to a container, as it is kept for auditors. */
export interface ContainerEventEntry {
  readonly workspaceId: string
  readonly event: ContainerEventName
  /** Null for what the server did by itself. */
  readonly actorId: string | null
  readonly cause: StartCause | StopCause
  /** Null when it does not exist yet. */
  readonly containerId: string | null
  readonly containerRole: ContainerRole
  /** The container whose network it shares. */
  readonly networkNamespace: string | null
}

/** An entry as it was kept. Names are texts: a later program may read what an older one wrote. */
export interface ContainerEventRecord {
  readonly id: number
  readonly workspaceId: string
  /** Null when the workspace is gone. */
  readonly workspaceName: string | null
  readonly event: string
  readonly actorType: 'user' | 'agent' | 'system'
  readonly actorId: string | null
  /** As it is now; null when the account is gone. */
  readonly actorEmail: string | null
  readonly cause: string
  readonly containerId: string | null
  readonly containerRole: string
  readonly networkNamespace: string | null
  /** Epoch seconds with fractions. */
  readonly createdAt: number
}

/** An empty text asks for nothing. */
export interface ContainerEventFilter {
  /** The id of a workspace, or a part of its name. */
  readonly workspace: string | undefined
  readonly workspaceId: string | undefined
}

/** 0 turns a bound off. */
export interface ContainerEventRetention {
  readonly days: number
  readonly rowCap: number
}
