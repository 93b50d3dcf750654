import { join } from 'node:path'
import type { Capability } from '@svc/protocol/ws/capabilities'
import { connect } from './live-workspace.ts'
import type { FrameOfType, SocketClient } from './socket-client.ts'
import type { AccountsServer, Person } from './start-accounts.ts'

/** Where the files of everybody in such a workspace are, from outside. */
export const homeOf = (server: AccountsServer, workspaceId: string): string =>
  join(server.folder, 'data/workspaces', workspaceId, 'home/svc')

export interface Ran {
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly exit: FrameOfType<'exec_exit'>
}

/** A socket with a workspace open, that runs commands in it. */
export class ExecClient {
  readonly socket: SocketClient
  #started = 0

  constructor(socket: SocketClient) {
    this.socket = socket
  }

  static async open(
    server: AccountsServer,
    { person, workspaceId, caps }: { person: Person; workspaceId: string; caps?: readonly Capability[] },
  ): Promise<ExecClient> {
    const socket = await server.socket(person.token, caps ? { caps } : {})
    await connect(socket, workspaceId)
    return new ExecClient(socket)
  }

  /** Starts a command with an id, and answers both names of it. */
  async start(command: readonly string[], more: object = {}): Promise<{ id: string; channel: number }> {
    const id = `e${++this.#started}`
    this.socket.send({ cmd: 'exec_start', exec_id: id, command, ...more })
    const { channel } = await this.socket.next('exec_started', ({ exec_id }) => exec_id === id)
    return { id, channel }
  }

  input(id: string | undefined, bytes: Uint8Array | string): void {
    this.socket.send({ cmd: 'exec_input', exec_id: id, data: Buffer.from(bytes).toString('base64') })
  }

  tell(cmd: 'exec_close_stdin' | 'exec_stop' | 'exec_signal', id: string | undefined, more: object = {}): void {
    this.socket.send({ cmd, exec_id: id, ...more })
  }

  /** What a command without binary messages has written so far. */
  output(id: string | undefined, stream?: 'stdout' | 'stderr'): Buffer {
    const pieces = this.socket.frames.flatMap((frame) =>
      frame.type === 'exec_output' && frame.exec_id === id && frame.stream === stream
        ? [Buffer.from(frame.data, 'base64')]
        : [],
    )
    return Buffer.concat(pieces)
  }

  text(id: string | undefined, stream?: 'stdout' | 'stderr'): string {
    return this.output(id, stream).toString()
  }

  exit(id?: string): Promise<FrameOfType<'exec_exit'>> {
    return this.socket.next('exec_exit', ({ exec_id }) => exec_id === id)
  }

  /** How often the end of a command was told. */
  exitCount(id?: string): number {
    return this.socket.frames.filter((frame) => frame.type === 'exec_exit' && frame.exec_id === id).length
  }

  /** Runs a command to its end, without input. */
  async run(command: readonly string[], more: object = {}): Promise<Ran> {
    const { id } = await this.start(command, more)
    this.tell('exec_close_stdin', id)
    const exit = await this.exit(id)
    return { stdout: this.output(id, 'stdout'), stderr: this.output(id, 'stderr'), exit }
  }

  async shell(script: string, more: object = {}): Promise<string> {
    return (await this.run(['sh', '-c', script], more)).stdout.toString()
  }
}
