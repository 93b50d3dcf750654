import type { ChannelError } from '@svc/protocol/agent/channel-error'
import type { Channel, ChannelHandlers } from '@svc/protocol/agent/channels'
import { AgentMessage, type ServerMessage } from '@svc/protocol/agent/requests'
import { AgentError, type AgentLost, unexpected } from './agent-error.ts'
import { isOverlong } from './answer-limits.ts'

/** What the owner of a call is told. What it has no handler for is not expected, and fails the call. */
export interface CallHandlers {
  message?(message: AgentMessage): void
  /** Lies in memory shared with other calls. The owner says `consumed` when the bytes are dealt with. */
  data?(bytes: Uint8Array, kind: 'data' | 'errorData'): void
  ended?(): void
  /** The last that is heard, once; not after `close`. Without an error when the agent ended the call in peace. */
  closed(error: AgentError | AgentLost | undefined): void
}

/** One request to the agent and everything that belongs to it. The agent is not trusted: what it says is checked here. */
export class Call {
  readonly #handlers: CallHandlers
  readonly #lost: () => AgentLost | undefined
  #channel: Channel | undefined
  #isClosed = false

  constructor(parts: {
    open: (handlers: ChannelHandlers) => Channel
    handlers: CallHandlers
    /** Why the connection is gone, once it is. */
    lost: () => AgentLost | undefined
  }) {
    this.#handlers = parts.handlers
    this.#lost = parts.lost
    this.#channel = parts.open({
      message: (message) => this.#take(message),
      data: (bytes, kind) => this.#takeBytes(bytes, kind),
      ended: () => this.#handlers.ended?.(),
      closed: (error) => {
        // Not even begun, because the connection is gone, for one: told later, when the owner knows the call.
        if (this.#channel) this.#finish(error)
        else queueMicrotask(() => this.#finish(error))
      },
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  message(message: ServerMessage): void {
    this.#channel?.message(message)
  }

  /** Resolves when the bytes have gone out, or the call is closed. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#channel?.write(bytes) ?? Promise.resolve()
  }

  end(): void {
    this.#channel?.end()
  }

  consumed(bytes: number): void {
    this.#channel?.consumed(bytes)
  }

  /** Ends the call from our side; nothing more is heard of it. */
  close(): void {
    this.#isClosed = true
    this.#channel?.close()
  }

  /** The agent said what it should not have said: the call is over. */
  fail(): void {
    if (this.#isClosed) return
    this.close()
    this.#handlers.closed(unexpected())
  }

  #take(value: unknown): void {
    const message = this.#handlers.message && !isOverlong(value) ? AgentMessage.safeParse(value) : undefined
    if (message?.success) this.#handlers.message?.(message.data)
    else this.fail()
  }

  #takeBytes(bytes: Uint8Array, kind: 'data' | 'errorData'): void {
    if (this.#handlers.data) this.#handlers.data(bytes, kind)
    else this.fail()
  }

  #finish(error: ChannelError | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#handlers.closed(this.#lost() ?? (error && new AgentError(error.code, error.message)))
  }
}
