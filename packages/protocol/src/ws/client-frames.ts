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

/** A command with a sentence for the reference. */
const said = <S extends z.ZodRawShape>(description: string, shape: S) => z.object(shape).meta({ description })

/**
 * What a client says on `/ws`, one row for each command. Unknown fields are ignored. Every one may carry `req`, which
 * its answer repeats.
 */
export const clientFrames = {
  hello: said('First of all, or never: what the client can do beyond the plain protocol. Answered by `hello`', {
    v: z.int().default(1),
    client: z.string().max(200).default(''),
    caps: z.array(z.string()).max(64),
  }),
  workspace_connect: said('Opens a workspace, and starts it if need be. Answered by `container_ready`', {
    workspaceId: Id,
  }),
  workspace_disconnect: said('Leaves the workspace, which runs on', {}),
  ui_ready: said('The page is there. Answered by the event `container_ready`, once, and by `shared_terminals`', {}),
  restart_container: said('Starts the workspace anew, for everybody in it', {}),
  heartbeat: said('Somebody is there: neither the workspace nor the session is idle', {}),
  terminal_start: said("Shows a window of one's own, and opens one if there is none. Answered by `terminal_started`", {
    cols: Extent,
    rows: Extent,
    browser_id: z.string().optional().catch(undefined),
    window_id: Id.optional().meta({ description: 'Instead of the one used last' }),
    resume: Resume.optional(),
  }),
  terminal_input: said('Typed, or pasted', { data: z.string(), channel: Channel.optional() }),
  terminal_resize: said("The client's screen has another size", { cols: Extent, rows: Extent }),
  terminal_stop: said('Shows no terminal any more; the shell lives on', {}),
  terminal_ack: said('With `flow`: the client has dealt with the output of a terminal up to here', {
    channel: Channel,
    offset: Offset,
  }),
  terminal_new_window: said('Opens a window', { name: z.string().optional() }),
  terminal_select_window: said("Shows another of one's own windows on this connection", {
    ...window,
    resume: Resume.optional(),
  }),
  terminal_close_window: said('Ends the shell of a window; not of the last one', window),
  terminal_rename_window: said('Gives a window another name', { ...window, name: z.string() }),
  terminal_list_windows: said('Answered by `terminal_windows`', {}),
  share_window: said("Lets others watch a window of one's own", { window_id: Id }),
  unshare_window: said('Ends that, and the views of those who watch', { window_id: Id }),
  join_shared_terminal: said('Watches a shared window. Answered by `terminal_started`', {
    user_id: Id,
    window_id: Id,
    resume: Resume.optional(),
  }),
  leave_shared_terminal: said('Shows the shared terminal no more', {}),
  list_shared_terminals: said('Answered by `shared_terminals`', {}),
  create_shared_terminal: said('Opens a window that is shared from the beginning', { name: z.string() }),
  delete_shared_terminal: said("Ends a shared window: one's own, or any for the owner of the workspace", {
    user_id: Id,
    window_id: Id,
  }),
  exec_start: said('Runs a command. Answered by `exec_started` with `exec2`, `exec_output`, and at last `exec_exit`', {
    command: z.array(z.string()).min(1),
    login: z.boolean().default(false).meta({ description: 'Through a login shell, which reads the profile' }),
    exec_id: ExecId,
    stderr: z.enum(['separate', 'merge']).optional(),
    cwd: z.string().optional(),
    env: z.record(z.string(), z.string()).optional(),
    timeout_s: z.number().positive().max(86_400).optional(),
  }),
  exec_input: said('For the standard input of a command', { exec_id: ExecId, data: Base64 }),
  exec_close_stdin: said('Ends its standard input; its output goes on', { exec_id: ExecId }),
  exec_signal: said('Sends a signal to the command and its children', { exec_id: ExecId, signal: z.string().max(16) }),
  exec_stop: said('Kills the command and its children', { exec_id: ExecId }),
  ssh_agent_start: said(
    'Lets programs in the workspace use the ssh agent of the client. Answered by `ssh_agent_started`',
    {},
  ),
  ssh_agent_data: said("What the client's agent answered; `conn` with `ssh2`", {
    data: Base64,
    conn: Channel.optional(),
  }),
  ssh_agent_close: said('With `ssh2`: ends one connection', { conn: Channel }),
  ssh_agent_stop: said('Answered by `ssh_agent_stopped`', {}),
  subscribe_health_heartbeat: said(
    'From now on, or no longer: `service_health_heartbeat` at each round of health checks',
    {
      enabled: z.boolean().default(true),
    },
  ),
} as const

export type Command = keyof typeof clientFrames
export type FrameOf<C extends Command> = z.output<(typeof clientFrames)[C]>

export const isCommand = (text: string): text is Command => Object.hasOwn(clientFrames, text)
