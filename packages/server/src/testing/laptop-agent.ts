import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { BinaryFrame } from '@svc/protocol/ws/binary-frames'
import { decodeBinary } from '@svc/protocol/ws/binary-frames'
import type { AnyFrame, SocketClient } from './socket-client.ts'

const run = promisify(execFile)
const PROGRAMS = ['ssh-agent', 'ssh-add', 'ssh-keygen']

/** The programs of OpenSSH that this machine lacks, for tests that need them. */
export const missingSshPrograms = PROGRAMS.filter(
  (name) => !(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name))),
)

/** A real ssh agent with two keys, as on somebody's own machine. Dispose it when done. */
export class LaptopAgent implements AsyncDisposable {
  readonly folder: string
  readonly #process: ChildProcess

  private constructor(folder: string) {
    this.folder = folder
    this.#process = spawn('ssh-agent', ['-D', '-a', this.socket], { stdio: 'ignore' })
  }

  static async start(): Promise<LaptopAgent> {
    const agent = new LaptopAgent(await mkdtemp(join(tmpdir(), 'svc-laptop-')))
    while (!existsSync(agent.socket)) await delay(10)
    for (const key of ['one', 'two']) {
      const file = join(agent.folder, key)
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `key ${key}`, '-f', file])
      await run('ssh-add', ['-q', file], { env: { ...process.env, SSH_AUTH_SOCK: agent.socket } })
    }
    return agent
  }

  get socket(): string {
    return join(this.folder, 'agent.sock')
  }

  publicKey(name: 'one' | 'two'): Promise<string> {
    return readFile(join(this.folder, `${name}.pub`), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#process, 'exit')
    this.#process.kill()
    await exited
    await rm(this.folder, { recursive: true })
  }
}

/** Joins the agent behind `path` to a client of `/ws`, as the command line does it; with `ssh2` when the client has it. */
export class AgentBridge {
  readonly #client: SocketClient
  readonly #path: string
  readonly #isBinary: boolean
  /** Undefined as a name: of a client without `ssh2`. */
  readonly #sockets = new Map<number | undefined, Socket>()
  /** The most connections that were open at once. */
  peak = 0

  constructor(client: SocketClient, path: string, { binary = false } = {}) {
    this.#client = client
    this.#path = path
    this.#isBinary = binary
    client.ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.#takeBinary(decodeBinary(data))
      else this.#take(JSON.parse(data.toString()))
    })
    client.ws.on('close', () => this.close())
  }

  get size(): number {
    return this.#sockets.size
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  #take(frame: AnyFrame): void {
    if (frame.type === 'ssh_agent_open') this.#connect(frame.conn)
    else if (frame.type === 'ssh_agent_close') this.#sockets.get(frame.conn)?.end()
    else if (frame.type === 'ssh_agent_stopped') this.close()
    else if (frame.type === 'ssh_agent_response') this.#write(frame.conn, Buffer.from(frame.data, 'base64'))
  }

  #takeBinary(frame: BinaryFrame | undefined): void {
    if (frame?.kind === 'sshAgent') this.#write(frame.channel === 0 ? undefined : frame.channel, frame.payload)
  }

  #write(conn: number | undefined, bytes: Uint8Array): void {
    const socket = this.#sockets.get(conn) ?? (conn === undefined ? this.#connect(conn) : undefined)
    socket?.write(bytes)
  }

  #connect(conn: number | undefined): Socket {
    const socket = connect(this.#path)
    this.#sockets.set(conn, socket)
    this.peak = Math.max(this.peak, this.#sockets.size)
    socket.on('error', () => {})
    socket.on('data', (bytes) => this.#answer(conn, bytes))
    socket.on('close', () => {
      this.#sockets.delete(conn)
      if (conn !== undefined) this.#send({ cmd: 'ssh_agent_close', conn })
    })
    return socket
  }

  #answer(conn: number | undefined, payload: Buffer): void {
    if (this.#isBinary && conn !== undefined) {
      this.#client.sendBinary({ kind: 'sshAgent', channel: conn, offset: 0, payload })
    } else {
      this.#send({ cmd: 'ssh_agent_data', ...(conn === undefined ? {} : { conn }), data: payload.toString('base64') })
    }
  }

  #send(frame: Readonly<Record<string, unknown>>): void {
    if (this.#client.ws.readyState === this.#client.ws.OPEN) this.#client.send(frame)
  }
}
