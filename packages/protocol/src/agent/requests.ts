import { z } from 'zod'

/**
 * What the server asks of the agent: the JSON of an `open` frame. What follows on the channel is said at each. Every
 * channel ends with `close`; one that carries an error (`ChannelError`) says that the request failed.
 *
 * The agent runs everything as the workspace's user, never as root, once `setup` is done.
 */
export type AgentRequest =
  | SetupRequest
  | { readonly op: 'ping' }
  | TerminalOpenRequest
  | TerminalAttachRequest
  /** Answered by `terminals`. */
  | { readonly op: 'terminal.list' }
  /** Ends the terminal's processes, as closing a window does. Ending one that is gone is not an error. */
  | { readonly op: 'terminal.close'; readonly id: string }
  /** Replaces the label of a terminal. */
  | { readonly op: 'terminal.label'; readonly id: string; readonly label: string }
  | ExecRequest
  | HealthCheckRequest
  | FileRequest
  /** Replaces the workspace token that programs in the workspace read (`TOKEN_FILE`). */
  | { readonly op: 'token.write'; readonly token: string }
  /** Makes the private home of a member, filled from the skeleton: `/home/<handle>`, kept by user id. */
  | { readonly op: 'home.prepare'; readonly user_id: string; readonly handle: string }
  | SshAgentListenRequest
  | SshAgentAcceptRequest

/**
 * The first request to a new agent; until it is done, everything else fails. The agent does what needs root (the sudo
 * rule, the directories), gives root up, and starts the service. Closed without an error once all of that stands.
 * Asked again, after the server came back, it changes nothing.
 */
export interface SetupRequest {
  readonly op: 'setup'
  readonly sudo: boolean
  /** Runs in the terminal `SERVICE_TERMINAL`. */
  readonly service_command: string | null
  readonly token: string | null
  /** For every process the agent starts, beside the container's own environment. */
  readonly env: Readonly<Record<string, string>>
}

/** Opens a terminal with a login shell that lives on its own: channels attach to it. Closed once the shell runs. */
export interface TerminalOpenRequest {
  readonly op: 'terminal.open'
  /** Chosen by the server; unknown to the agent so far. */
  readonly id: string
  readonly cols: number
  readonly rows: number
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Kept with the terminal and listed with it, so that what the server knows of it outlives the server. Not looked at. */
  readonly label: string
}

/**
 * Shows a terminal. Answered by `attached`, then `snapshot_bytes` bytes that draw the screen and the scrollback (none
 * when `from` is still held), then the output from `offset` on, as `data`. The server sends input as `data`, and
 * `resize`. `exited` comes when the shell has ended and all its output was sent.
 */
export interface TerminalAttachRequest {
  readonly op: 'terminal.attach'
  readonly id: string
  /** How much of the output is known already; absent for a snapshot. */
  readonly from?: number
  /** A viewer that may miss output: when it falls behind, it gets `resync` and a new snapshot, and holds up nobody. */
  readonly lossy: boolean
}

/**
 * Runs a command without a terminal. Bytes to it are its standard input, ended by `end`; its standard output and error
 * come as `data` and `errorData`. `signal` reaches its whole process group. Answered by `exited` after the last byte.
 * A channel that is closed or lost kills the group.
 */
export interface ExecRequest {
  readonly op: 'exec'
  readonly argv: readonly string[]
  /** Through a login shell, which reads the profile; the arguments arrive unchanged. */
  readonly login: boolean
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Listens where programs in the workspace look for the ssh agent of a member (`sshAgentSocket`), in place of whoever
 * listened there before. Answered by `listening`, then by `connected` for each program that connects. The socket and all
 * its connections end with the channel.
 */
export interface SshAgentListenRequest {
  readonly op: 'ssh_agent.listen'
  readonly user_id: string
}

/**
 * Takes one connection that `connected` told of: its bytes go both ways as `data`, each way ended by `end`. One that
 * nobody takes within some seconds is ended.
 */
export interface SshAgentAcceptRequest {
  readonly op: 'ssh_agent.accept'
  readonly user_id: string
  readonly connection: number
}

/** Runs `bash -c` with no startup files, and answers `checked`. */
export interface HealthCheckRequest {
  readonly op: 'health.check'
  readonly command: string
  readonly timeout_ms: number
}

/** Paths are absolute and without NUL. Links are followed. */
export type FileRequest =
  /** Answered by `entries`, as often as it takes; sorted by name. */
  | { readonly op: 'files.list'; readonly path: string }
  /** Answered by `stat`. */
  | { readonly op: 'files.stat'; readonly path: string }
  /** Answered by `stat`, then the content as `data`, then `end`. */
  | { readonly op: 'files.read'; readonly path: string }
  /** A `tar.gz` of a directory, with names relative to it: `data`, then `end`. */
  | { readonly op: 'files.archive'; readonly path: string }
  /**
   * The server sends the content as `data`, then `end`. It goes to a temporary name beside the target and is synced.
   * Parents are made. Answered by `written`. When the server says `keep` then, it takes the target's place at once. A
   * channel that ends early leaves nothing.
   */
  | { readonly op: 'files.write'; readonly path: string }
  /** Never replaces anything. Parents are made. */
  | { readonly op: 'files.rename'; readonly from: string; readonly to: string }
  /** With everything in it. */
  | { readonly op: 'files.remove'; readonly path: string }
  | { readonly op: 'files.make_directory'; readonly path: string }

/** What the server says on an open channel. */
export type ServerMessage =
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'signal'; readonly signal: string }
  /** What was written takes its place. */
  | { readonly type: 'keep' }

/** The terminal in which the service command runs. */
export const SERVICE_TERMINAL = 'service'
/** Where programs in a workspace find its token. */
export const TOKEN_FILE = '/tmp/svc/workspace-token'

/** Where programs in a workspace find the ssh agent of a member; nobody listens there while it is not forwarded. */
export const sshAgentSocket = (userId: string): string => `/tmp/svc-ssh-agent-${userId}.sock`

/** The version of this protocol. An agent of another one is still running after an upgrade, and must be replaced. */
export const AGENT_PROTOCOL = 2

const Hello = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  /** New for each start of the agent: tells an adopted agent from a replaced one. */
  boot_id: z.string(),
  /** `setup` is done. */
  ready: z.boolean(),
})

const FileEntry = z.object({
  name: z.string(),
  is_dir: z.boolean(),
  size: z.number(),
  mtime: z.number(),
  ctime: z.number(),
})
export type FileEntry = z.infer<typeof FileEntry>

const Terminal = z.object({
  id: z.string(),
  pid: z.int(),
  cols: z.int(),
  rows: z.int(),
  /** Set by programs, as a window title; empty at first. */
  title: z.string(),
  /** Output so far, in bytes. */
  offset: z.int(),
  /** As the server gave it; empty for the service. */
  label: z.string(),
  /** Of the service alone: how its command ended, null while it runs. */
  exit_code: z.int().nullable().optional(),
})
export type TerminalInfo = z.infer<typeof Terminal>

/** What the agent says on a channel. `hello` comes once, on channel 0, when a connection begins. */
export const AgentMessage = z.discriminatedUnion('type', [
  Hello,
  /** `opened` counts all that were ever opened in this container, the service left out. */
  z.object({ type: z.literal('terminals'), terminals: z.array(Terminal), opened: z.int() }),
  z.object({
    type: z.literal('attached'),
    cols: z.int(),
    rows: z.int(),
    /** Position in the output at which the bytes after the snapshot begin. */
    offset: z.int(),
    snapshot_bytes: z.int(),
  }),
  /** Another viewer, or the owner, changed the size. */
  z.object({ type: z.literal('resized'), cols: z.int(), rows: z.int() }),
  z.object({ type: z.literal('titled'), title: z.string() }),
  /**
   * Output was passed over: the next `snapshot_bytes` bytes draw the screen anew. For lossy viewers, and for others that
   * fell so far behind one who keeps up that the output is no longer held.
   */
  z.object({ type: z.literal('resync'), offset: z.int(), snapshot_bytes: z.int() }),
  /** `signal` when one ended it; `code` is 128 + its number then, as a shell says it. */
  z.object({ type: z.literal('exited'), code: z.int(), signal: z.string().nullable() }),
  z.object({
    type: z.literal('checked'),
    /** Null when it took too long and was killed. */
    code: z.int().nullable(),
    /** The end of its standard error, or of its output when it wrote none. */
    output: z.string(),
  }),
  z.object({ type: z.literal('entries'), entries: z.array(FileEntry) }),
  z.object({ type: z.literal('stat'), entry: FileEntry }),
  z.object({ type: z.literal('written'), size: z.int() }),
  z.object({ type: z.literal('listening'), path: z.string() }),
  z.object({ type: z.literal('connected'), connection: z.int() }),
])
export type AgentMessage = z.infer<typeof AgentMessage>
