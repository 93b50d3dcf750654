import type { SshConnection } from '../../agent/ssh-connection.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { AgentPipe } from './agent-pipe.ts'
import { Replies } from './replies.ts'
import { requestSender } from './request-sender.ts'

/** As many as the agent in the workspace lets in. */
const MAX_CONNECTIONS = 64
/** A program that has asked its last may wait so long for the answer. */
const LAST_ANSWER_MS = 10_000
/** So many may do so at once: most programs are gone when they have asked their last. */
const MAX_HALF_OPEN = 16

/**
 * For clients with `ssh2`: each program has a connection of its own to the client's agent. Either side says `close` once
 * for each connection, when it has no more to say.
 */
export class ParallelPipe implements AgentPipe {
  readonly #peer: Peer
  readonly #clock: Clock
  readonly #open = new Map<number, Replies>()
  /** Those whose program has ended its half, the oldest first, with what gives up waiting. */
  readonly #halfOpen = new Map<number, () => void>()
  /** Connections of which the client has not been told the end yet. */
  #told = 0
  #lastConn = 0
  #isOver = false

  constructor({ peer, clock }: { peer: Peer; clock: Clock }) {
    this.#peer = peer
    this.#clock = clock
  }

  connected(accept: () => SshConnection): void {
    const connection = accept()
    // A program that does nothing but connect can fill neither the client's line nor our memory.
    if (this.#told >= MAX_CONNECTIONS) {
      connection.close()
      return
    }
    const conn = ++this.#lastConn
    this.#told++
    this.#open.set(conn, new Replies({ connection, peer: this.#peer, clock: this.#clock }))
    this.#peer.send({ type: 'ssh_agent_open', conn })
    void this.#carry(conn, connection)
  }

  answered(conn: number | undefined, bytes: Uint8Array): void {
    this.#find(conn)?.write(bytes)
  }

  closed(conn: number): void {
    const replies = this.#find(conn)
    this.#forget(conn)
    void replies?.finish()
  }

  end(): void {
    this.#isOver = true
    for (const conn of [...this.#open.keys()]) this.#forget(conn)
  }

  async #carry(conn: number, connection: SshConnection): Promise<void> {
    const send = requestSender(this.#peer, conn)
    try {
      for await (const bytes of connection.requests) await send(bytes)
    } catch {
      // It was cut off, by whichever side: there is nothing more to carry.
    }
    if (this.#isOver) return
    this.#peer.send({ type: 'ssh_agent_close', conn }, () => {
      this.#told--
    })
    if (connection.isOver) this.#forget(conn)
    else if (this.#open.has(conn)) this.#awaitLastAnswer(conn)
  }

  #awaitLastAnswer(conn: number): void {
    this.#halfOpen.set(
      conn,
      this.#clock.after(LAST_ANSWER_MS, () => this.closed(conn)),
    )
    const [oldest] = this.#halfOpen.keys()
    if (this.#halfOpen.size > MAX_HALF_OPEN && oldest !== undefined) this.closed(oldest)
  }

  #forget(conn: number): void {
    this.#open.delete(conn)
    this.#halfOpen.get(conn)?.()
    this.#halfOpen.delete(conn)
  }

  /** Undefined when it has ended: what was on its way comes too late, and is no fault. */
  #find(conn: number | undefined): Replies | undefined {
    if (conn === undefined || conn < 1 || conn > this.#lastConn) {
      throw new FrameError('invalid', 'There is no such connection to the ssh agent')
    }
    return this.#open.get(conn)
  }
}
