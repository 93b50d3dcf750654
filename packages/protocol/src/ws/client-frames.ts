import * as z from 'zod'

/** Longest text that `terminal_input` takes, and most bytes that `exec_input` does. */
export const MAX_INPUT_LENGTH = 16 * 1024 * 1024
const MAX_ID_LENGTH = 128

const Id = z.string().max(MAX_ID_LENGTH)
/** A size that is none never changes the one that is known, and is no error. */
const Extent = z.int().min(0).max(65_535).optional().catch(undefined)
const Channel = z.int().min(0).max(0xffff_ffff)
const Offset = z.int().min(0)
const Resume = z.object({ channel: Channel, offset: Offset })
/** By its id; the index is for older clients. */
const window = { window_id: Id.optional(), index: z.int().optional() }
/** Of a command, chosen by the client; absent for clients without `exec2`, which have one at a time. */
const ExecId = z.string().min(1).max(MAX_ID_LENGTH).optional()
const Base64 = z.string()

/**
 * What a client says on `/ws`, one row for each command. Unknown fields are ignored. Every one may carry `req`, which
 * its answer repeats.
 */
export const clientFrames = {
  /** First of all, or never: what the client can do beyond the plain protocol. Answered by `hello`. */
  hello: z.object({
    v: z.int().default(1),
    client: z.string().max(200).default(''),
    caps: z.array(z.string()).max(64),
  }),
  /** Opens a workspace, and starts it if need be. Answered by `container_ready`. */
  workspace_connect: z.object({ workspaceId: Id }),
  workspace_disconnect: z.object({}),
  /** The page is there. Answered by the event `container_ready` once, and by `shared_terminals`. */
  ui_ready: z.object({}),
  /** Starts the workspace anew, for everybody in it. */
  restart_container: z.object({}),
  /** Somebody is there: neither the workspace nor the session is idle. */
  heartbeat: z.object({}),
  /** Shows a window of one's own, and opens one if there is none. Answered by `terminal_started`. */
  terminal_start: z.object({
    cols: Extent,
    rows: Extent,
    browser_id: z.string().optional().catch(undefined),
    /** Show this window instead of the one used last. */
    window_id: Id.optional(),
    resume: Resume.optional(),
  }),
  terminal_input: z.object({ data: z.string(), channel: Channel.optional() }),
  terminal_resize: z.object({ cols: Extent, rows: Extent }),
  terminal_stop: z.object({}),
  /** With `flow`: the client has dealt with the output of a terminal up to here. */
  terminal_ack: z.object({ channel: Channel, offset: Offset }),
  terminal_new_window: z.object({ name: z.string().optional() }),
  /** Shows another of one's own windows on this connection. */
  terminal_select_window: z.object({ ...window, resume: Resume.optional() }),
  terminal_close_window: z.object(window),
  terminal_rename_window: z.object({ ...window, name: z.string() }),
  terminal_list_windows: z.object({}),
  share_window: z.object({ window_id: Id }),
  unshare_window: z.object({ window_id: Id }),
  join_shared_terminal: z.object({ user_id: Id, window_id: Id, resume: Resume.optional() }),
  leave_shared_terminal: z.object({}),
  list_shared_terminals: z.object({}),
  create_shared_terminal: z.object({ name: z.string() }),
  delete_shared_terminal: z.object({ user_id: Id, window_id: Id }),
  /** Runs a command. Answered by `exec_started` (with `exec2`), `exec_output` and at last `exec_exit`. */
  exec_start: z.object({
    command: z.array(z.string()).min(1),
    login: z.boolean().default(false),
    exec_id: ExecId,
    stderr: z.enum(['separate', 'merge']).optional(),
    cwd: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    timeout_s: z.number().positive().max(86_400).optional(),
  }),
  exec_input: z.object({ exec_id: ExecId, data: Base64 }),
  exec_close_stdin: z.object({ exec_id: ExecId }),
  exec_signal: z.object({ exec_id: ExecId, signal: z.string().max(16) }),
  exec_stop: z.object({ exec_id: ExecId }),
  /** Lets programs in the workspace use the ssh agent of the client. Answered by `ssh_agent_started`. */
  ssh_agent_start: z.object({}),
  /** What the client's agent answered. `conn` with `ssh2`. */
  ssh_agent_data: z.object({ data: Base64, conn: Channel.optional() }),
  ssh_agent_close: z.object({ conn: Channel }),
  ssh_agent_stop: z.object({}),
  /** From now on, or no longer: a frame at each round of health checks. */
  subscribe_health_heartbeat: z.object({ enabled: z.boolean().default(true) }),
} as const

export type Command = keyof typeof clientFrames
export type FrameOf<C extends Command> = z.output<(typeof clientFrames)[C]>

export const isCommand = (text: string): text is Command => Object.hasOwn(clientFrames, text)
