import type { DeathCause } from '../lifecycle.ts'
import type { Capability } from './capabilities.ts'
import type { Command } from './client-frames.ts'

/** Why a command was refused, for programs. Without a code: only this action is not the caller's to do. */
export const frameErrorMeanings = {
  forbidden: 'The whole workspace is out of reach: trying again is of no use',
  not_found: 'The workspace is gone',
  capacity: 'It could not be started: memory is short, or its owner has as many running as allowed',
  draining: 'It could not be started, because the server stops or restarts: come back later',
  audit: 'It could not be started, because the audit trail cannot be written',
  start_failed: 'It could not be started; `message` says why',
  not_connected: 'There is no workspace open on this connection',
  invalid: 'Not JSON, no such command, or a field that does not fit',
  too_large: 'More than this command takes',
  container_gone: 'The workspace has stopped meanwhile: open it again',
  conflict: 'It does not fit the present state; `message` says why',
  internal: 'The server failed; its log says why',
} as const
export type FrameErrorCode = keyof typeof frameErrorMeanings

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
      /** Its name; names may be the same. */
      readonly shared_window?: string
      readonly readOnly?: boolean
      /** With `resume`, `flow`, `bin` or `size`, as all that follows. */
      readonly window_id?: string
      /** Names the terminal in binary messages and in `resume`. */
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
      /** Draws everything anew. A long screen comes in several frames: only the last has an `offset`. */
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

/** Each of them in a sentence, for the reference. */
export const serverFrameMeanings: Readonly<Record<ServerFrame['type'], string>> = {
  error: 'A command was refused; `code` is for programs, and absent when only this action is not the caller’s to do',
  hello: 'Answers `hello`: what both sides can do',
  ack: 'With `req`: a command without an answer of its own was done',
  container_ready: 'The workspace is open on this connection',
  container_progress: 'With `progress`: how far a start has come',
  event: 'To everybody in the workspace: `container_ready`, `container_restart`, `container_stopped`, `container_died`',
  terminal_started: 'A terminal is shown from here on',
  terminal_output: 'Its output, or with `screen` all of it anew',
  terminal_exited: 'With `exit`: the terminal is no longer shown, and why',
  terminal_resized: 'With `size`: the terminal has another size',
  terminal_windows: 'The caller’s windows, to every connection they have in the workspace',
  terminals_changed: 'The same, to every connection of the caller, in whatever workspace',
  shared_terminals: 'What is shared in the workspace, and who watches; only one’s own for those who may not watch',
  shared_terminal_deleted: 'A terminal is no longer shared',
  exec_started: 'With `exec2`: the command runs; `channel` names it in binary messages',
  exec_output: 'What the command wrote',
  exec_exit: 'The command ended; told exactly once',
  ssh_agent_started: 'Programs in the workspace find the client’s ssh agent at `socket`',
  ssh_agent_open: 'With `ssh2`: a program connected',
  ssh_agent_response: 'What a program asks of the client’s agent',
  ssh_agent_close: 'With `ssh2`: a program is done, or was given up',
  ssh_agent_stopped: 'The agent is no longer forwarded',
  container_status: 'To those who may monitor it: a workspace started or stopped',
  service_health: 'To those who may monitor it: its health changed; `seq` counts from 1 in each container',
  service_health_heartbeat: 'For those who asked: health is still being checked',
  workspace_evicted: 'To those who may monitor it: it was stopped because memory ran short',
  'workspaces-changed': 'The list of workspaces is out of date',
  host_shutdown: 'The server is about to stop',
  host_started: 'The server is back',
  server_schedule: 'The planned stops and restarts of the server; once after connecting, and at each change',
}
