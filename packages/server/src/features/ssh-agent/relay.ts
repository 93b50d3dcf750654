import { AgentError, AgentLost } from '../../agent/agent-error.ts'
import type { SshListener } from '../../agent/ssh-listener.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { AgentPipe } from './agent-pipe.ts'
import { ParallelPipe } from './parallel-pipe.ts'
import { SinglePipe } from './single-pipe.ts'

/** What the agent in the workspace may take to make a socket. */
const START_MS = 10_000

interface Parts {
  readonly attachment: Attachment
  readonly clock: Clock
  /** It is over, whoever ended it. */
  ended(): void
}

/** The ssh agent of one client, forwarded into the workspace that it has open. */
export class Relay {
  readonly attachment: Attachment
  readonly pipe: AgentPipe
  readonly #clock: Clock
  readonly #listener: SshListener
  readonly #ended: () => void
  #forget: () => void = () => {}
  #isOver = false

  /** Throws `FrameError` when the workspace does not run. */
  constructor({ attachment, clock, ended }: Parts) {
    const { peer, userId } = attachment
    this.attachment = attachment
    this.#clock = clock
    this.#ended = ended
    this.pipe = peer.has('ssh2')
      ? new ParallelPipe({ peer, clock })
      : new SinglePipe({ peer, clock, broken: () => this.stop() })
    this.#listener = attachment.requireRunning().agent.ssh.listen(userId, {
      connected: (accept) => this.pipe.connected(accept),
      ended: () => this.stop(),
    })
    this.#forget = attachment.onLeft(() => this.stop())
  }

  /** The path at which programs find the agent, once they do. A relay that cannot begin is over. */
  async path(): Promise<string> {
    let isLate = false
    const cancel = this.#clock.after(START_MS, () => {
      isLate = true
      this.close()
    })
    try {
      return await this.#listener.listening
    } catch (error) {
      this.close()
      throw isLate ? new FrameError('internal', 'The workspace took too long to forward the ssh agent') : refusal(error)
    } finally {
      cancel()
    }
  }

  /** Ends it and tells the client. */
  stop(): void {
    if (this.#isOver) return
    this.close()
    this.attachment.peer.send({ type: 'ssh_agent_stopped' })
  }

  /** Ends it without a word. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#forget()
    this.pipe.end()
    this.#listener.close()
    this.#ended()
  }
}

function refusal(cause: unknown): unknown {
  if (cause instanceof AgentLost) return new FrameError('container_gone', 'The workspace has stopped', { cause })
  if (!(cause instanceof AgentError)) return cause
  return new FrameError('conflict', `The ssh agent could not be forwarded: ${cause.message}`, { cause })
}
