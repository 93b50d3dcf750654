import type { Readable } from 'node:stream'
import type { SshAgentAcceptRequest } from '@svc/protocol/agent/requests'
import type { AgentLink } from './agent-link.ts'
import type { Call } from './call.ts'
import { InboundStream } from './inbound-stream.ts'

/** A program in the workspace that talks to an ssh agent. Each direction ends by itself. */
export class SshConnection {
  /** What the program asks. Ends when it has no more to ask, and breaks off when it is cut off. */
  readonly requests: Readable
  readonly #requests: InboundStream
  readonly #call: Call
  readonly #over: () => void

  constructor(parts: { link: AgentLink; request: SshAgentAcceptRequest; over: () => void }) {
    this.#over = parts.over
    this.#requests = new InboundStream({ consumed: (bytes) => this.#call.consumed(bytes) })
    this.requests = this.#requests
    this.#call = parts.link.call(parts.request, {
      data: (bytes) => this.#requests.accept(bytes),
      ended: () => this.#requests.finish(),
      closed: (error) => {
        if (error) this.#requests.destroy(error)
        else this.#requests.finish()
        this.#over()
      },
    })
  }

  /** The program has gone, or was let go: nothing that is written arrives any more. */
  get isOver(): boolean {
    return this.#call.isClosed
  }

  /** What the agent answers. Resolves when there was room for it, or the program has gone. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#call.write(bytes)
  }

  /** Lets go of the program. It still gets what `write` has resolved for. */
  close(): void {
    if (this.#call.isClosed) return
    this.#call.close()
    this.#requests.destroy()
    this.#over()
  }
}
