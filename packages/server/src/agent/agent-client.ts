import type { Duplex } from 'node:stream'
import { AGENT_PROTOCOL, AgentMessage, type ExecRequest, type SetupRequest } from '@svc/protocol/agent/requests'
import { z } from 'zod'
import { AgentLost, AgentOutdated } from './agent-error.ts'
import { AgentFiles } from './agent-files.ts'
import { AgentLink } from './agent-link.ts'
import { AgentSsh } from './agent-ssh.ts'
import { AgentTerminals } from './agent-terminals.ts'
import { type AskOptions, ask, tell } from './ask.ts'
import { Exec } from './exec.ts'

const MAX_BOOT_ID_LENGTH = 128
const MAX_HEALTH_OUTPUT_LENGTH = 4096

/** As much of `hello` as every version of the protocol has. */
const Greeting = z.object({ type: z.literal('hello'), protocol: z.int() })

/**
 * The agent of one workspace, as the server sees it. Whoever holds the workspace can replace what answers here, so
 * nothing of it is trusted: an answer that was not asked for fails its request with `AgentError`, and a stream that does
 * not keep to the protocol is ended. Every request rejects with `AgentLost` when the connection goes.
 */
export class AgentClient {
  readonly bootId: string
  /** `setup` was done before this connection. */
  readonly isReady: boolean
  readonly terminals: AgentTerminals
  readonly files: AgentFiles
  readonly ssh: AgentSsh
  readonly #link: AgentLink

  private constructor(parts: { link: AgentLink; bootId: string; isReady: boolean }) {
    this.#link = parts.link
    this.bootId = parts.bootId
    this.isReady = parts.isReady
    this.terminals = new AgentTerminals(parts.link)
    this.files = new AgentFiles(parts.link)
    this.ssh = new AgentSsh(parts.link)
  }

  /**
   * Resolves after `hello`. Throws `AgentLost` when the stream ends first and `AgentOutdated` when the agent speaks
   * another protocol; the stream is destroyed then, as it is when `signal` aborts first.
   */
  static async connect(stream: Duplex, { signal }: { signal: AbortSignal }): Promise<AgentClient> {
    const greeted = Promise.withResolvers<unknown>()
    let isGreeted = false
    const announced = (message: unknown) => {
      if (isGreeted) link.close(new AgentLost('the agent greeted twice'))
      isGreeted = true
      greeted.resolve(message)
    }
    const link = new AgentLink({ stream, announced })
    const giveUp = () => greeted.reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      signal.throwIfAborted()
      void link.lost.then(() => greeted.reject(link.lostBecause))
      return new AgentClient({ link, ...readHello(await greeted.promise) })
    } catch (error) {
      link.close(new AgentLost('the agent could not be greeted'))
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Resolves when the connection is gone, for whatever reason, `close` included. */
  get lost(): Promise<void> {
    return this.#link.lost
  }

  /** Why it is gone, once it is. Has no word of the agent's in it, so it may be logged. */
  get lostBecause(): AgentLost | undefined {
    return this.#link.lostBecause
  }

  /** Requests under way, for tests and for people who look for leaks. */
  get callCount(): number {
    return this.#link.size
  }

  setup(request: Omit<SetupRequest, 'op'>, options?: AskOptions): Promise<void> {
    return tell(this.#link, { ...request, op: 'setup' }, options)
  }

  ping(options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'ping' }, options)
  }

  /** `code` is null when it took too long and was killed. `output` is the end of what it wrote. */
  async checkHealth(
    command: string,
    timeoutMs: number,
    options?: AskOptions,
  ): Promise<{ code: number | null; output: string }> {
    const request = { op: 'health.check', command, timeout_ms: timeoutMs } as const
    const { code, output } = await ask(this.#link, request, 'checked', options)
    return { code, output: output.slice(-MAX_HEALTH_OUTPUT_LENGTH) }
  }

  writeToken(token: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'token.write', token }, options)
  }

  prepareHome(userId: string, handle: string, options?: AskOptions): Promise<void> {
    return tell(this.#link, { op: 'home.prepare', user_id: userId, handle }, options)
  }

  exec(request: Omit<ExecRequest, 'op'>): Exec {
    return new Exec({ link: this.#link, request })
  }

  /** Lets go of the agent, which lives on with its terminals; requests under way are lost. */
  close(): void {
    this.#link.close(new AgentLost('the server let go of the agent'))
  }
}

function readHello(message: unknown): { bootId: string; isReady: boolean } {
  const greeting = Greeting.safeParse(message)
  if (!greeting.success) throw new AgentLost('the agent does not greet as an agent')
  const { protocol } = greeting.data
  if (protocol !== AGENT_PROTOCOL) {
    throw new AgentOutdated(`the agent speaks version ${protocol} of the protocol, and the server ${AGENT_PROTOCOL}`)
  }
  const hello = AgentMessage.safeParse(message)
  if (hello.data?.type !== 'hello' || hello.data.boot_id.length > MAX_BOOT_ID_LENGTH) {
    throw new AgentLost('the agent does not greet as an agent')
  }
  return { bootId: hello.data.boot_id, isReady: hello.data.ready }
}
