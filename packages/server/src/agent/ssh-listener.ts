import { type AgentMessage, sshAgentSocket } from '@svc/protocol/agent/requests'
import { AgentError, type AgentLost, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import type { Call } from './call.ts'
import { SshConnection } from './ssh-connection.ts'

/** What the owner of a listener is told. A handler must not throw. */
export interface SshListenerHandlers {
  /** A program has connected. `accept` takes the connection; one that is not taken ends after some seconds. */
  connected(accept: () => SshConnection): void
  /** Another took over (`exists`), or the agent or the connection broke off. Once, after `listening` has resolved. */
  ended(why: AgentError | AgentLost): void
}

/** A place in the workspace where programs find the ssh agent of a member. */
export class SshListener {
  /** Resolves with the path, once programs can connect. Nothing else is told when it rejects. Need not be awaited. */
  readonly listening: Promise<string>
  readonly #listening = Promise.withResolvers<string>()
  readonly #link: AgentLink
  readonly #userId: string
  readonly #handlers: SshListenerHandlers
  readonly #call: Call
  readonly #connections = new Set<SshConnection>()
  #isListening = false

  constructor({ link, userId, handlers }: { link: AgentLink; userId: string; handlers: SshListenerHandlers }) {
    this.#link = link
    this.#userId = userId
    this.#handlers = handlers
    this.listening = this.#listening.promise
    this.listening.catch(() => {})
    this.#call = link.call(
      { op: 'ssh_agent.listen', user_id: userId },
      {
        message: (message) => {
          if (!this.#take(message)) this.#call.fail()
        },
        closed: (error) => this.#closed(error ?? unanswered()),
      },
    )
  }

  /** Removes the socket and ends all connections. Nothing more is told. */
  close(): void {
    this.#call.close()
    this.#listening.reject(new AgentError('failed', 'The ssh agent is no longer forwarded'))
    this.#closeConnections()
  }

  /** False for what has no place here. */
  #take(message: AgentMessage): boolean {
    if (this.#isListening) return message.type === 'connected' && this.#connected(message.connection)
    const path = sshAgentSocket(this.#userId)
    if (message.type !== 'listening' || message.path !== path) return false
    this.#isListening = true
    this.#listening.resolve(path)
    return true
  }

  #connected(connection: number): boolean {
    if (connection < 1) return false
    this.#handlers.connected(() => this.#accept(connection))
    return true
  }

  #accept(connection: number): SshConnection {
    const accepted: SshConnection = new SshConnection({
      link: this.#link,
      request: { op: 'ssh_agent.accept', user_id: this.#userId, connection },
      over: () => this.#connections.delete(accepted),
    })
    this.#connections.add(accepted)
    if (this.#call.isClosed) accepted.close()
    return accepted
  }

  #closed(error: AgentError | AgentLost): void {
    // The agent ends them too. One that wants to do harm may not.
    this.#closeConnections()
    if (this.#isListening) this.#handlers.ended(error)
    else this.#listening.reject(error)
  }

  #closeConnections(): void {
    for (const connection of [...this.#connections]) connection.close()
  }
}
