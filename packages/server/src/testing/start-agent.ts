import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { AgentClient } from '../agent/agent-client.ts'
import { scratchFolder } from './start-daemon.ts'

/** By its path: the server and the agent know each other only by their protocol. */
const AGENT = join(import.meta.dirname, '../../../agent/src/main.ts')
const START_MS = 20_000
const RETRY_MS = 10

/** The real agent as its own process, as the user who runs the tests, with all of its files in one folder. */
export class AgentProcess {
  readonly folder: string
  readonly child: ChildProcess
  stderr = ''
  readonly #socket: string
  readonly #exited: Promise<unknown>

  constructor(folder: string) {
    this.folder = folder
    this.#socket = join(folder, 'agent.sock')
    const args = ['--socket', this.#socket, '--homes', this.homes, '--runtime', join(folder, 'runtime')]
    this.child = spawn(process.execPath, [AGENT, ...args, '--user-id', String(process.getuid?.())], {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk
    })
    this.#exited = once(this.child, 'close')
  }

  /** Where the homes are. */
  get homes(): string {
    return join(this.folder, 'homes')
  }

  /** A new connection; the agent serves any number. */
  async connect(): Promise<AgentClient> {
    return AgentClient.connect(await this.#dial(), { signal: AbortSignal.timeout(START_MS) })
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.#exited
  }

  /** Its socket is there only once it listens. */
  async #dial(): Promise<Socket> {
    const giveUp = AbortSignal.timeout(START_MS)
    for (;;) {
      const socket = connect({ path: this.#socket })
      try {
        await once(socket, 'connect')
        return socket
      } catch (error) {
        if (giveUp.aborted || this.child.exitCode !== null) {
          throw new Error(`the agent does not listen: ${this.stderr}`, { cause: error })
        }
        await delay(RETRY_MS)
      }
    }
  }
}

/** An agent that is set up, and a client of it. Both are gone after the test. */
export async function startAgent(): Promise<{ agent: AgentClient; running: AgentProcess }> {
  const folder = await scratchFolder()
  await mkdir(join(folder, 'homes'))
  const running = new AgentProcess(folder)
  onTestFinished(() => running.kill())
  const agent = await running.connect()
  onTestFinished(() => agent.close())
  await agent.setup({ sudo: false, service_command: null, token: null, env: {} })
  return { agent, running }
}
