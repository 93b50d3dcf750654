import { sshAgentSocket } from '@svc/protocol/agent/requests'
import { onTestFinished } from 'vitest'
import type { AgentClient } from '../agent/agent-client.ts'
import type { Exec } from '../agent/exec.ts'

/** Its input goes to the socket and what comes from there is its output; each direction ends by itself. */
const SCRIPT = `
const socket = require('node:net').connect({ path: process.env.SSH_AUTH_SOCK, allowHalfOpen: true })
socket.on('error', (error) => process.stderr.write(error.code))
socket.on('connect', () => process.stderr.write('connected'))
process.stdin.pipe(socket)
if (!process.env.NO_READING) socket.pipe(process.stdout)
socket.on('end', () => { socket.end(); process.stdin.destroy() })
socket.on('close', () => process.stdin.destroy())
`

/** A program in a workspace that is connected to the ssh agent of a member, and says what a test wants. */
export class WorkspaceProgram {
  readonly #exec: Exec
  readonly #received: Buffer[] = []
  /** Resolves when the socket is closed. */
  readonly ended: Promise<unknown>
  errors = ''

  private constructor(exec: Exec) {
    this.#exec = exec
    this.ended = exec.exited
    exec.stdout.on('data', (chunk: Buffer) => this.#received.push(chunk))
    exec.stderr.on('data', (chunk: Buffer) => {
      this.errors += chunk
    })
    onTestFinished(() => exec.close())
  }

  /** Resolves when it is connected, or could not connect. */
  static async start(agent: AgentClient, userId: string, { reads = true } = {}): Promise<WorkspaceProgram> {
    const env = { SSH_AUTH_SOCK: sshAgentSocket(userId), ...(reads ? {} : { NO_READING: '1' }) }
    const exec = agent.exec({ argv: ['/opt/svc/node', '-e', SCRIPT], login: false, cwd: '/tmp', env })
    const program = new WorkspaceProgram(exec)
    await Promise.race([new Promise((resolve) => exec.stderr.once('data', resolve)), exec.exited])
    return program
  }

  write(bytes: Uint8Array): void {
    this.#exec.stdin.write(bytes)
  }

  /** It has no more to ask. */
  end(): void {
    this.#exec.stdin.end()
  }

  kill(): void {
    this.#exec.signal('SIGKILL')
  }

  get received(): Buffer {
    return Buffer.concat(this.#received)
  }

  get text(): string {
    return this.received.toString()
  }
}
