import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env as ownEnv } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SetupRequest } from '@svc/protocol/agent/requests'
import { TestLink } from './test-link.ts'

const { PATH } = ownEnv
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

export const plainSetup: SetupRequest = { op: 'setup', sudo: false, service_command: null, token: null, env: {} }

/** A real agent, as a child process with a directory of its own, run as whoever runs the test. */
export class TestAgent implements AsyncDisposable {
  readonly folder: string
  readonly process: ChildProcess
  readonly #links: TestLink[] = []
  errors = ''

  private constructor(folder: string, process: ChildProcess) {
    this.folder = folder
    this.process = process
    process.stderr?.on('data', (chunk) => {
      this.errors += chunk
    })
  }

  static async start(options: { env?: NodeJS.ProcessEnv; owner?: number } = {}): Promise<TestAgent> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-agent-'))
    if (options.owner !== undefined) await chown(folder, options.owner, options.owner)
    const places = ['--socket', `${folder}/agent.sock`, '--homes', `${folder}/homes`, '--runtime', `${folder}/runtime`]
    const child = spawn(process.execPath, [MAIN, ...places, '--user-id', String(process.getuid?.())], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { PATH, ...options.env },
    })
    const agent = new TestAgent(folder, child)
    const first = await agent.#connectWhenListening()
    first.close()
    return agent
  }

  /** An agent that is set up, and a connection to it. */
  static async ready(options: { env?: NodeJS.ProcessEnv; setup?: Partial<SetupRequest> } = {}): Promise<{
    agent: TestAgent
    link: TestLink
  }> {
    const agent = await TestAgent.start(options)
    try {
      const link = await agent.connect()
      await link.ask({ ...plainSetup, ...options.setup })
      return { agent, link }
    } catch (error) {
      await agent[Symbol.asyncDispose]()
      throw error
    }
  }

  get home(): string {
    return `${this.folder}/homes/svc`
  }

  async connect(): Promise<TestLink> {
    const link = await TestLink.open(`${this.folder}/agent.sock`)
    this.#links.push(link)
    return link
  }

  async #connectWhenListening(): Promise<TestLink> {
    for (;;) {
      if (this.process.exitCode !== null) throw new Error(`The agent ended: ${this.errors}`)
      try {
        return await TestLink.open(`${this.folder}/agent.sock`)
      } catch {
        await delay(5)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) link.close()
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const exited = once(this.process, 'exit')
      this.process.kill('SIGKILL')
      await exited
    }
    // Shells that lose their terminal still write their history.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
