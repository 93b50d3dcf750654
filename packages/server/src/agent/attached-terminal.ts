import type { AgentMessage, TerminalAttachRequest } from '@svc/protocol/agent/requests'
import { AgentError, unanswered } from './agent-error.ts'
import type { AgentLink } from './agent-link.ts'
import { type Exit, isExit, isPosition, isSize, MAX_TITLE_LENGTH } from './answer-limits.ts'
import type { Call } from './call.ts'
import { ownBytes } from './own-bytes.ts'

/** A viewer that falls behind gets a screen in between, so only an agent that wants to do harm sends so many without. */
const MAX_RESYNCS_WITHOUT_OUTPUT = 100

export interface Attachment {
  readonly cols: number
  readonly rows: number
  /** Position in the output at which the bytes after the snapshot begin. */
  readonly offset: number
  /** So many of the first bytes of `output` draw the screen and the scrollback. */
  readonly snapshotBytes: number
}

/** What a viewer of a terminal is told, in order. A handler must not throw. */
export interface TerminalHandlers {
  /** The bytes are the viewer's. It says `consumed` when it has passed them on; until then the agent waits in the end. */
  output(bytes: Uint8Array): void
  resized?(size: { cols: number; rows: number }): void
  /** Only the latest, when it changes often. */
  titled?(title: string): void
  /** Output was passed over: the next `snapshotBytes` bytes draw the screen anew. Often when attached as lossy; else only beside one who keeps up. */
  resync?(at: { offset: number; snapshotBytes: number }): void
  /** The shell has ended, and all its output was told. */
  exited(exit: Exit): void
  /** The agent or the connection broke off. */
  lost(): void
}

/** One viewer of a terminal. Once `attached` has resolved it ends with `exited` or `lost`, or by `close`. */
export class AttachedTerminal {
  /** Rejects with `AgentError` (`not_found` for one) or `AgentLost`; nothing else is told then. Need not be awaited. */
  readonly attached: Promise<Attachment>
  readonly #attached = Promise.withResolvers<Attachment>()
  readonly #handlers: TerminalHandlers
  readonly #call: Call
  #state: 'attaching' | 'attached' | 'exited' = 'attaching'
  #resyncs = 0
  /** Told at the end of this turn: a title is only worth the latest, and costs the agent no credit. */
  #title: string | undefined
  #size: { cols: number; rows: number } | undefined
  #isNewsDue = false

  constructor(parts: { link: AgentLink; request: TerminalAttachRequest; handlers: TerminalHandlers }) {
    this.#handlers = parts.handlers
    this.attached = this.#attached.promise
    this.attached.catch(() => {})
    this.#call = parts.link.call(parts.request, {
      message: (message) => {
        if (!this.#take(message)) this.#call.fail()
      },
      data: (bytes) => this.#output(bytes),
      closed: (error) => this.#closed(error),
    })
  }

  /** Input. Resolves when the agent had room for it, or the terminal is gone: wait for it before the next. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#call.write(bytes)
  }

  resize(cols: number, rows: number): void {
    this.#call.message({ type: 'resize', cols, rows })
  }

  /** The viewer has taken so many bytes of what `output` gave it. */
  consumed(bytes: number): void {
    this.#call.consumed(bytes)
  }

  /** Detaches; the terminal lives on. Nothing more is told. */
  close(): void {
    if (this.#call.isClosed) return
    this.#call.close()
    this.#attached.reject(new AgentError('failed', 'Detached before the terminal was shown'))
  }

  #output(bytes: Uint8Array): void {
    if (this.#state !== 'attached') {
      this.#call.fail()
    } else if (bytes.length > 0) {
      this.#resyncs = 0
      this.#tellSize()
      this.#handlers.output(ownBytes(bytes))
    }
  }

  /** False for what has no place here. */
  #take(message: AgentMessage): boolean {
    if (this.#state === 'attaching') return message.type === 'attached' && this.#attach(message)
    if (this.#state === 'exited') return false
    switch (message.type) {
      case 'resized':
        if (!isSize(message)) return false
        this.#size = { cols: message.cols, rows: message.rows }
        this.#tellSoon()
        return true
      case 'titled':
        this.#title = message.title.slice(0, MAX_TITLE_LENGTH)
        this.#tellSoon()
        return true
      case 'resync':
        return this.#resync(message)
      case 'exited':
        if (!isExit(message)) return false
        this.#state = 'exited'
        this.#tellNews()
        this.#handlers.exited({ code: message.code, signal: message.signal })
        return true
      default:
        return false
    }
  }

  #attach(message: Extract<AgentMessage, { type: 'attached' }>): boolean {
    if (!isSize(message) || !isPosition(message)) return false
    this.#state = 'attached'
    const { cols, rows, offset, snapshot_bytes: snapshotBytes } = message
    this.#attached.resolve({ cols, rows, offset, snapshotBytes })
    return true
  }

  #resync(message: Extract<AgentMessage, { type: 'resync' }>): boolean {
    if (!isPosition(message) || ++this.#resyncs > MAX_RESYNCS_WITHOUT_OUTPUT) return false
    this.#tellSize()
    this.#handlers.resync?.({ offset: message.offset, snapshotBytes: message.snapshot_bytes })
    return true
  }

  #tellSoon(): void {
    if (this.#isNewsDue) return
    this.#isNewsDue = true
    queueMicrotask(() => {
      this.#isNewsDue = false
      if (!this.#call.isClosed && this.#state === 'attached') this.#tellNews()
    })
  }

  #tellNews(): void {
    this.#tellSize()
    const title = this.#title
    this.#title = undefined
    if (title !== undefined) this.#handlers.titled?.(title)
  }

  /** Before output that was made for the new size. */
  #tellSize(): void {
    const size = this.#size
    this.#size = undefined
    if (size) this.#handlers.resized?.(size)
  }

  #closed(error: Error | undefined): void {
    if (this.#state === 'attaching') this.#attached.reject(error ?? unanswered())
    else if (this.#state === 'attached') this.#handlers.lost()
  }
}
