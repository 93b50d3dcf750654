import type { Capability } from '@svc/protocol/ws/capabilities'
import type { FrameOf } from '@svc/protocol/ws/client-frames'
import { connect, makeWorkspace, openLocalEngine } from './live-workspace.ts'
import type { SocketClient } from './socket-client.ts'
import { type AccountsOptions, type AccountsServer, type Person, startAccounts } from './start-accounts.ts'

type Caps = readonly Capability[] | 'all'

/** Capabilities of a client that knows all about terminals, as text and as bytes. */
export const TEXT: readonly Capability[] = ['req', 'resume', 'exit', 'size']
export const BYTES: readonly Capability[] = ['req', 'bin', 'resume', 'exit', 'size']

/**
 * A server with workspaces that run, and Ann, who owns one.
 *
 *     await using desk = await startDesk()
 *     const tab = await desk.tab(desk.ann)          // a socket that has the workspace open
 *     await start(tab)                              // and shows a terminal
 *     type(tab, 'echo hello\r')
 *     await tab.untilOutput('hello')
 */
export async function startDesk(options: AccountsOptions & { workspace?: object } = {}) {
  const { workspace, ...rest } = options
  const server = await startAccounts({ openEngine: openLocalEngine, ...rest })
  const ann = await server.person('ann')
  const workspaceId = await makeWorkspace(ann, workspace)
  return { ...(await openDesk(server, workspaceId)), ann }
}

/** The same for a workspace that is there already. */
export async function openDesk(server: AccountsServer, workspaceId: string) {
  return {
    server,
    workspaceId,
    async tab(person: Person, caps?: Caps): Promise<SocketClient> {
      const socket = await server.socket(person.token, caps ? { caps } : {})
      await connect(socket, workspaceId)
      return socket
    },
    /** The container, as the server sees it. */
    running: () => server.app.lifecycle.requireRunning(workspaceId),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Shows a terminal, and waits for all that comes with it. */
export async function start(socket: SocketClient, frame: Partial<FrameOf<'terminal_start'>> = {}) {
  socket.send({ cmd: 'terminal_start', ...frame })
  const started = await socket.next('terminal_started')
  const { windows } = await socket.next('terminal_windows')
  const { terminals } = await socket.next('shared_terminals')
  return { started, windows, terminals }
}

export const type = (socket: SocketClient, data: string): void => socket.send({ cmd: 'terminal_input', data })

/** Types a command and waits for what it prints. The text it prints must not be in the command. */
export async function run(socket: SocketClient, command: string, prints: string): Promise<void> {
  const before = socket.output.length
  type(socket, `${command}\r`)
  await socket.until(() => socket.output.indexOf(prints, before) !== -1, `${prints} after ${command}`)
}

/** Asks for something and waits until it is done, with an answer or without. */
export async function ask(socket: SocketClient, frame: { readonly cmd: string; readonly [field: string]: unknown }) {
  const req = crypto.randomUUID()
  socket.send({ ...frame, req })
  await socket.until(() => socket.frames.some((each) => each.req === req), `an answer to ${frame.cmd}`)
  const answer = socket.frames.find((each) => each.req === req)
  if (!answer) throw new Error('no answer')
  return answer
}
