import type { SshConnection } from '../../agent/ssh-connection.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import { AgentMessages, BrokenAgentStream } from './agent-messages.ts'
import type { AgentPipe } from './agent-pipe.ts'
import { Replies } from './replies.ts'
import { requestSender } from './request-sender.ts'

/** Programs that wait for the one before them; with it as many as the agent in the workspace lets in. */
const MAX_WAITING = 63
/** The one before may wait for a person who confirms each use of a key. */
const MAX_WAIT_MS = 60_000

interface Parts {
  readonly peer: Peer
  readonly clock: Clock
  /** The answers can no longer be told apart. */
  broken(): void
}

/**
 * For clients without `ssh2`, whose agent is one stream for all programs: they are served one after the other. Only whole
 * questions are passed on, and the next program waits for the last answer to the one before, even when that has gone.
 * So no program ever gets what was meant for another.
 */
export class SinglePipe implements AgentPipe {
  readonly #parts: Parts
  readonly #send: (bytes: Uint8Array) => Promise<void>
  readonly #answers = new AgentMessages()
  readonly #line = new Map<SshConnection, () => void>()
  #isServing = false
  #current: Replies | undefined
  /** Answers that the client owes. */
  #owed = 0
  #whenPaid: (() => void) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#send = requestSender(parts.peer)
  }

  connected(accept: () => SshConnection): void {
    const connection = accept()
    if (this.#line.size >= MAX_WAITING) {
      connection.close()
      return
    }
    const giveUp = this.#parts.clock.after(MAX_WAIT_MS, () => {
      this.#line.delete(connection)
      connection.close()
    })
    this.#line.set(connection, giveUp)
    if (!this.#isServing) void this.#serveAll()
  }

  answered(_conn: number | undefined, bytes: Uint8Array): void {
    for (const answer of this.#cut(bytes)) {
      if (this.#owed === 0) continue // nobody asked
      this.#owed--
      this.#current?.write(answer)
    }
    if (this.#owed === 0) this.#whenPaid?.()
  }

  closed(): void {
    throw new FrameError('invalid', 'Connections to the ssh agent can only be closed with ssh2')
  }

  end(): void {
    for (const cancel of this.#line.values()) cancel()
    this.#line.clear()
    this.#owed = 0
    this.#whenPaid?.()
  }

  async #serveAll(): Promise<void> {
    this.#isServing = true
    for (;;) {
      const [next] = this.#line
      if (!next) break
      const [connection, cancelGivingUp] = next
      cancelGivingUp()
      this.#line.delete(connection)
      await this.#serve(connection)
    }
    this.#isServing = false
  }

  async #serve(connection: SshConnection): Promise<void> {
    const { peer, clock } = this.#parts
    const replies = new Replies({ connection, peer, clock })
    const questions = new AgentMessages()
    this.#current = replies
    try {
      for await (const bytes of connection.requests) {
        for (const question of questions.push(bytes)) {
          this.#owed++
          await this.#send(question)
        }
      }
    } catch (error) {
      // It was cut off, or does not speak the protocol of agents.
      if (error instanceof BrokenAgentStream) connection.close()
    }
    await this.#paid()
    this.#current = undefined
    void replies.finish()
  }

  #paid(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenPaid = resolve
      if (this.#owed === 0) resolve()
    })
  }

  #cut(bytes: Uint8Array): Uint8Array[] {
    try {
      return this.#answers.push(bytes)
    } catch (error) {
      if (!(error instanceof BrokenAgentStream)) throw error
      this.#parts.broken()
      if (error.isTooLong) throw new FrameError('too_large', 'No answer of an ssh agent is so long')
      throw new FrameError('invalid', 'That is no answer of an ssh agent')
    }
  }
}
