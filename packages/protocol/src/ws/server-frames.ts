import type { DeathCause } from '../lifecycle.ts'
import type { Capability } from './capabilities.ts'
import type { Command } from './client-frames.ts'

/**
 * Why a command was refused, for programs. A frame without a code says that only this action is not the caller's to do.
 * - `forbidden`, `not_found`: the whole workspace is out of reach; trying again is of no use.
 * - `capacity`, `draining`, `audit`, `start_failed`: it could not be started; a later try may succeed.
 * - `not_connected`: there is no workspace open on this connection.
 * - `container_gone`: the workspace has stopped meanwhile: open it again.
 */
export const frameErrorCodes = [
  'forbidden',
  'not_found',
  'capacity',
  'draining',
  'audit',
  'start_failed',
  'not_connected',
  'invalid',
  'too_large',
  'container_gone',
  'conflict',
  'internal',
] as const
export type FrameErrorCode = (typeof frameErrorCodes)[number]

export interface Window {
  /** `@3`: never used again while the container lives. */
  readonly id: string
  /** Its place in the list; may be used again. */
  readonly index: number
  readonly name: string
  readonly active: boolean
}

export interface SharedTerminal {
  readonly user_id: string
  readonly handle: string
  readonly window_name: string
  readonly window_id: string
  /** One for each connection that watches. */
  readonly viewers: readonly { readonly user_id: string; readonly email: string }[]
  readonly is_service: boolean
}

export interface Schedule {
  readonly id: string
  readonly action: 'stop' | 'recycle'
  readonly fire_at: string
  readonly created_by: string
  readonly created_at: string
}

/** Something that happened to the container, for those who have the workspace open. */
export type WorkspaceEvent =
  | { readonly name: 'container_ready'; readonly value: { readonly reason: string } }
  | { readonly name: 'container_restart'; readonly value: { readonly reason: string } }
  | { readonly name: 'container_stopped'; readonly value: { readonly reason: string } }
  | {
      readonly name: 'container_died'
      readonly value: {
        readonly cause: DeathCause
        readonly message: string
        readonly restart_attempts: number
        readonly restart_scheduled: boolean
        readonly restart_in_seconds?: number
        readonly gave_up: boolean
      }
    }

/** Stages of a start, in their order; those that a workspace does not need are left out. */
export type StartStage = 'admission' | 'image' | 'create' | 'sidecar' | 'start' | 'ready_wait'

/** `exited`: the shell ended. `detached`: another terminal took its place. `kicked`: no longer shared, or not allowed. */
export type TerminalEnd = 'exited' | 'detached' | 'kicked' | 'container' | 'slow'

/** What the server says on `/ws`. Bytes are base64 unless they travel as binary messages; output is text. */
export type ServerFrame =
  | {
      readonly type: 'error'
      readonly message: string
      readonly code?: FrameErrorCode
      readonly cmd?: Command | string
      readonly req?: string
    }
  | {
      readonly type: 'hello'
      readonly v: 1
      readonly conn_id: string
      readonly instance: string
      readonly version: string
      readonly caps: readonly Capability[]
      readonly limits: { readonly msg: number; readonly ring: number; readonly window: number }
    }
  | { readonly type: 'ack'; readonly req: string; readonly cmd: Command }
  | {
      readonly type: 'container_ready'
      readonly workspaceId: string
      readonly userId: string
      readonly ports: readonly number[]
      readonly serviceCommand: string | null
      readonly userHome: string
    }
  | {
      readonly type: 'container_progress'
      readonly workspaceId: string
      readonly stage: StartStage
      readonly detail?: string
      readonly elapsed_ms: number
    }
  | { readonly type: 'event'; readonly event: { readonly type: 'CUSTOM' } & WorkspaceEvent }
  | {
      readonly type: 'terminal_started'
      readonly shared_user_id?: string
      readonly shared_window?: string
      readonly readOnly?: boolean
      /** Of a window of one's own. */
      readonly window_id?: string
      /** With `resume`, `flow` or `bin`: names the terminal in binary messages and in `resume`. */
      readonly channel?: number
      /** Where its output begins; after a screen, when `resumed` is false. */
      readonly offset?: number
      readonly resumed?: boolean
      readonly cols?: number
      readonly rows?: number
    }
  | {
      readonly type: 'terminal_output'
      readonly data: string
      /** With `resume` or `flow`. `offset` is where the output stands after this. */
      readonly channel?: number
      readonly offset?: number
      /** Draws everything anew. */
      readonly screen?: true
    }
  | { readonly type: 'terminal_exited'; readonly channel: number; readonly reason: TerminalEnd; readonly code?: number }
  | { readonly type: 'terminal_resized'; readonly channel: number; readonly cols: number; readonly rows: number }
  | { readonly type: 'terminal_windows'; readonly windows: readonly Window[] }
  | { readonly type: 'terminals_changed'; readonly workspace_id: string; readonly windows?: readonly Window[] }
  | { readonly type: 'shared_terminals'; readonly terminals: readonly SharedTerminal[] }
  | {
      readonly type: 'shared_terminal_deleted'
      readonly user_id: string
      readonly window_name: string
      readonly window_id: string
    }
  /** `channel` names the command in binary messages. */
  | { readonly type: 'exec_started'; readonly exec_id: string; readonly channel: number }
  | {
      readonly type: 'exec_output'
      readonly exec_id?: string
      readonly stream?: 'stdout' | 'stderr'
      readonly data: string
    }
  | { readonly type: 'exec_exit'; readonly exec_id?: string; readonly code: number; readonly signal?: string }
  | { readonly type: 'ssh_agent_started'; readonly socket: string }
  /** With `ssh2`: a program in the workspace connected. */
  | { readonly type: 'ssh_agent_open'; readonly conn: number }
  /** What a program in the workspace asks of the agent. */
  | { readonly type: 'ssh_agent_response'; readonly conn?: number; readonly data: string }
  | { readonly type: 'ssh_agent_close'; readonly conn: number }
  | { readonly type: 'ssh_agent_stopped' }
  | {
      readonly type: 'container_status'
      readonly workspace_id: string
      readonly running: boolean
      readonly service_started_at?: number
    }
  | {
      readonly type: 'service_health'
      readonly workspace_id: string
      readonly healthy: boolean
      readonly health_message: string | null
      readonly running: boolean
      readonly health_checked_at: string | null
      readonly seq: number
    }
  | { readonly type: 'service_health_heartbeat'; readonly timestamp: string }
  | { readonly type: 'workspace_evicted'; readonly workspace_id: string; readonly reason: string }
  | { readonly type: 'workspaces-changed' }
  | { readonly type: 'host_shutdown' }
  | { readonly type: 'host_started' }
  | { readonly type: 'server_schedule'; readonly schedules: readonly Schedule[] }
