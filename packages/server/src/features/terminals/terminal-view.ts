import type { Permission } from '@svc/protocol/permissions'
import type { AgentClient } from '../../agent/agent-client.ts'
import { AgentError, AgentLost } from '../../agent/agent-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { isTerminalReplies } from './terminal-replies.ts'
import type { Size, SizeWish, TerminalAccess } from './terminal-size.ts'
import { type StreamStart, TerminalStream } from './terminal-stream.ts'
import { TerminalWriter } from './terminal-writer.ts'
import { type TerminalWindow, terminalId } from './window.ts'

interface ViewParts {
  readonly attachment: Attachment
  readonly window: TerminalWindow
  readonly access: TerminalAccess
  /** Of the client. */
  readonly size: Size
  readonly clock: Clock
  /** The shell has ended; the code is not known when it ended while the agent was away. */
  readonly onExited: (view: TerminalView, code: number | undefined) => void
  /** The agent does not show it any more, though it is there. */
  readonly onFailed: (view: TerminalView) => void
  readonly onResized: (view: TerminalView, size: Size) => void
}

/**
 * The terminal that one connection shows: exactly one window, for as long as the view lives. When the agent is lost and
 * found again, it goes on where it was.
 */
export class TerminalView implements SizeWish {
  readonly attachment: Attachment
  readonly window: TerminalWindow
  readonly access: TerminalAccess
  size: Size
  usedAt = 0
  readonly #parts: ViewParts
  readonly #writer: TerminalWriter
  readonly #shown = Promise.withResolvers<void>()
  /** Typed while there is nobody to take it. */
  readonly #waiting: { readonly bytes: Uint8Array; readonly release: () => void }[] = []
  #agent: AgentClient | undefined
  #stream: TerminalStream | undefined
  /** What a stream after this one needs to go on. */
  #from: number | undefined
  #acknowledged: number | undefined
  /** Pieces that the agent had no room for yet. */
  #unwritten = 0
  #isClosed = false

  constructor(parts: ViewParts) {
    this.#parts = parts
    this.attachment = parts.attachment
    this.window = parts.window
    this.access = parts.access
    this.size = parts.size
    const { peer } = parts.attachment
    this.#writer = new TerminalWriter({ peer, channel: parts.window.channel, clock: parts.clock })
  }

  get isJoined(): boolean {
    return this.access !== 'own'
  }

  /** Without this it ends. */
  get needs(): Permission {
    return this.isJoined ? 'spectate-on-shared-terminals' : 'code-in-isolation'
  }

  /**
   * Attaches to the terminal; nothing is shown before `begin`. `from` is what the client has of the output already.
   * Rejects with `AgentError` (`not_found` when its shell has ended) or `AgentLost`.
   */
  open(
    agent: AgentClient,
    options: { from?: number | undefined; resizeTo?: Size | undefined } = {},
  ): Promise<StreamStart> {
    this.#agent = agent
    const stream = new TerminalStream({
      agent,
      id: terminalId(this.window),
      from: options.from,
      isLossy: this.isJoined,
      isAcknowledged: this.attachment.peer.has('flow'),
      acknowledged: this.#acknowledged,
      handlers: {
        screen: (part, sent) => {
          this.#writer.screen(part, sent)
          if (part.offset !== undefined) this.#shown.resolve()
        },
        output: (bytes) => {
          this.attachment.touch()
          this.#writer.output(bytes)
        },
        resized: (size) => {
          this.#writer.resized(size)
          this.#parts.onResized(this, size)
        },
        exited: ({ code }) => {
          this.#writer.end()
          this.#parts.onExited(this, code)
        },
        lost: () => this.#lost(stream),
      },
    })
    this.#stream = stream
    // Before the screen is drawn, so that it is of the size that the client has.
    if (options.resizeTo) stream.resize(options.resizeTo)
    for (const { bytes, release } of this.#waiting.splice(0)) this.#type(stream, bytes, release)
    return stream.open()
  }

  /** From now on the client is told. Resolves when it got the screen, or goes on without one. */
  begin({ offset, isResumed }: StreamStart): Promise<void> {
    const stream = this.#stream
    if (!stream || this.#isClosed) return Promise.resolve()
    this.#writer.follow(offset, (bytes) => stream.sent(bytes))
    if (isResumed) this.#shown.resolve()
    stream.begin()
    return this.#shown.promise
  }

  /** What the client typed, in order; it is read no further while too much of it waits. False for what it may not. */
  input(bytes: Uint8Array): boolean {
    if (this.access === 'read-only' && !isTerminalReplies(bytes)) return false
    if (this.#isClosed || bytes.length === 0) return true
    this.attachment.touch()
    this.#writer.expectEcho()
    const release = this.attachment.peer.hold(bytes.length)
    if (this.#stream) this.#type(this.#stream, bytes, release)
    else this.#waiting.push({ bytes, release })
    return true
  }

  resize(size: Size): void {
    this.#stream?.resize(size)
  }

  acknowledge(offset: number): void {
    this.#stream?.acknowledge(offset)
  }

  /** The agent was lost and is there again. */
  async reconnected(agent: AgentClient): Promise<void> {
    if (this.#isClosed || this.#stream || this.#agent === agent) return
    try {
      await this.begin(await this.open(agent, { from: this.#from }))
    } catch (error) {
      if (this.#isClosed) return
      this.#stream = undefined
      if (error instanceof AgentError && error.code === 'not_found') this.#parts.onExited(this, undefined)
      else if (!(error instanceof AgentLost)) this.#parts.onFailed(this)
    }
  }

  /** The shell lives on; nobody is told anything more. */
  close(): void {
    this.#isClosed = true
    this.#stream?.close()
    this.#writer.drop()
    this.#shown.resolve()
    for (const { release } of this.#waiting.splice(0)) release()
  }

  #type(stream: TerminalStream, bytes: Uint8Array, release: () => void): void {
    this.#unwritten++
    stream.isClientUnheard = true
    void stream.write(bytes).then(() => {
      release()
      this.#unwritten--
      if (this.#unwritten === 0) stream.isClientUnheard = false
    })
  }

  #lost(stream: TerminalStream): void {
    this.#from = stream.position
    this.#acknowledged = stream.acknowledged
    this.#stream = undefined
    this.#shown.resolve()
    // A connection that stands means that only this terminal is not shown any more.
    if (!this.#agent?.lostBecause) this.#parts.onFailed(this)
  }
}
