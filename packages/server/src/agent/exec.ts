import type { Readable, Writable } from 'node:stream'
import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import type { ExecRequest } from '@svc/protocol/agent/requests'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { type Exit, isExit } from './answer-limits.ts'
import type { Call } from './call.ts'
import { InboundStream } from './inbound-stream.ts'
import { OutboundStream } from './outbound-stream.ts'

/** What a stream may hold up that nobody has begun to read, once the other one is read. */
const MAX_UNREAD_BYTES = INITIAL_CREDIT / 2

/**
 * A command that runs in the workspace.
 *
 * Standard output and error share one account of credit, so bytes of one that are not read hold up the other. Whoever
 * reads both has everything, with back-pressure. Whoever reads only one need not mind the other: when 128 KiB of it
 * have gathered that nobody has begun to read, it is given up and its bytes are dropped from then on. It is destroyed
 * then, so a reader who comes too late sees a stream that broke off, never one with a gap. While nobody reads either
 * of them, both wait.
 */
export class Exec {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /**
   * Resolves when the command has ended and its last byte has arrived, so its output must be read. Rejects with
   * `AgentError` when it could not be run or was closed, with `AgentLost` when the connection went. Need not be awaited.
   */
  readonly exited: Promise<Exit>
  readonly #call: Call
  readonly #exited = Promise.withResolvers<Exit>()
  readonly #streams: { readonly data: InboundStream; readonly errorData: InboundStream }
  #exit: Exit | undefined

  constructor({ link, request }: { link: AgentLink; request: Omit<ExecRequest, 'op'> }) {
    this.exited = this.#exited.promise
    this.exited.catch(() => {})
    const inbound = () =>
      new InboundStream({ consumed: (bytes) => this.#call.consumed(bytes), begun: () => this.#giveUpUnread() })
    this.#streams = { data: inbound(), errorData: inbound() }
    this.stdin = new OutboundStream(() => this.#call).on('close', () => this.#call.end())
    this.stdout = this.#streams.data
    this.stderr = this.#streams.errorData
    this.#call = link.call(
      { ...request, op: 'exec' },
      {
        message: (message) => {
          if (message.type !== 'exited' || this.#exit || !isExit(message)) this.#call.fail()
          else this.#exit = { code: message.code, signal: message.signal }
        },
        data: (bytes, kind) => {
          if (this.#exit) return this.#call.fail()
          this.#streams[kind].accept(bytes)
          this.#giveUpUnread()
        },
        closed: (error) => this.#finish(error ?? (this.#exit ? undefined : unanswered())),
      },
    )
  }

  /** Reaches the command and everything it has started, as in `signal('SIGINT')`. */
  signal(name: string): void {
    this.#call.message({ type: 'signal', signal: name })
  }

  /** Kills the command and everything it has started. */
  close(): void {
    if (this.#call.isClosed) return
    this.#call.close()
    this.#finish(new AgentError('failed', 'The command was ended'))
  }

  #giveUpUnread(): void {
    const { data, errorData } = this.#streams
    if (holdsUp(data, errorData)) data.destroy()
    if (holdsUp(errorData, data)) errorData.destroy()
  }

  #finish(error: Error | undefined): void {
    this.stdin.destroy()
    if (error) {
      for (const stream of Object.values(this.#streams)) stream.destroy(error)
      this.#exited.reject(error)
    } else if (this.#exit) {
      for (const stream of Object.values(this.#streams)) stream.finish()
      this.#exited.resolve(this.#exit)
    }
  }
}

const holdsUp = (one: InboundStream, other: InboundStream): boolean =>
  one.heldBytes > MAX_UNREAD_BYTES && !one.isBegun && other.isBegun
