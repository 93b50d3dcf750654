import type { AgentClient } from '../../agent/agent-client.ts'
import type { Exit } from '../../agent/answer-limits.ts'
import type { AttachedTerminal } from '../../agent/attached-terminal.ts'
import { OutputCredit } from './output-credit.ts'
import type { Size } from './terminal-size.ts'

const NOTHING = new Uint8Array()

/** A piece of what draws everything anew. */
export interface ScreenPart {
  readonly bytes: Uint8Array
  readonly isFirst: boolean
  /** Where the output goes on; only in the last part. */
  readonly offset: number | undefined
}

/** What comes from a terminal, in order. */
export interface StreamHandlers {
  /** `sent` is to be called when it is on its way, or of no use any more. */
  screen(part: ScreenPart, sent: () => void): void
  /** To be answered with `sent` of the stream. */
  output(bytes: Uint8Array): void
  resized(size: Size): void
  exited(exit: Exit): void
  lost(): void
}

export interface StreamStart extends Size {
  /** Where the output begins, after the screen if there is one. */
  readonly offset: number
  /** The output goes on where it was asked to, without a screen. */
  readonly isResumed: boolean
}

/**
 * The way of one terminal's output from the agent to one viewer: cuts what the agent sends into screens and output, and
 * gives the agent credit for what was passed on.
 */
export class TerminalStream {
  readonly #terminal: AttachedTerminal
  readonly #handlers: StreamHandlers
  readonly #from: number | undefined
  readonly #isAcknowledged: boolean
  readonly #acknowledged: number | undefined
  /** What came before the viewer was ready for it. */
  #held: (() => void)[] | undefined = []
  #credit: OutputCredit | undefined
  /** How much of a screen is still to come; undefined when there is none. */
  #ofScreen: number | undefined
  #isScreenBegun = false
  #position = 0
  #isClientUnheard = false
  #isClosed = false

  constructor(parts: {
    agent: AgentClient
    id: string
    /** What the viewer has already; undefined for a screen. */
    from: number | undefined
    isLossy: boolean
    /** The viewer says how far it is; where it was last. */
    isAcknowledged: boolean
    acknowledged?: number | undefined
    handlers: StreamHandlers
  }) {
    this.#handlers = parts.handlers
    this.#from = parts.from
    this.#isAcknowledged = parts.isAcknowledged
    this.#acknowledged = parts.acknowledged
    const { id, from, isLossy: lossy } = parts
    this.#terminal = parts.agent.terminals.attach(from === undefined ? { id, lossy } : { id, lossy, from }, {
      output: (bytes) => this.#later(() => this.#take(bytes)),
      resized: (size) => this.#later(() => this.#handlers.resized(size)),
      resync: ({ offset, snapshotBytes }) => this.#later(() => this.#resync(offset, snapshotBytes)),
      exited: (exit) => this.#later(() => this.#handlers.exited(exit)),
      lost: () => this.#later(() => this.#handlers.lost()),
    })
  }

  /** Rejects with `AgentError` or `AgentLost`. Nothing is told before `begin`. */
  async open(): Promise<StreamStart> {
    const { cols, rows, offset, snapshotBytes } = await this.#terminal.attached
    const isResumed = this.#from !== undefined && snapshotBytes === 0 && offset === this.#from
    this.#position = offset
    this.#credit = new OutputCredit({
      from: offset,
      acknowledged: (isResumed ? this.#acknowledged : undefined) ?? offset,
      isAcknowledged: this.#isAcknowledged,
      consume: (bytes) => this.#terminal.consumed(bytes),
    })
    this.#credit.isClientUnheard = this.#isClientUnheard
    if (!isResumed) this.#held?.unshift(() => this.#expectScreen(snapshotBytes))
    return { cols, rows, offset, isResumed }
  }

  begin(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const tell of held) this.#later(tell)
  }

  /** Where the output stands, or undefined in the middle of a screen, which nobody can go on from. */
  get position(): number | undefined {
    return this.#ofScreen === undefined ? this.#position : undefined
  }

  get acknowledged(): number | undefined {
    return this.#credit?.acknowledged
  }

  /** So many bytes of output are on their way, or of no use any more. */
  sent(bytes: number): void {
    this.#credit?.sent(bytes)
  }

  acknowledge(offset: number): void {
    this.#credit?.acknowledge(offset)
  }

  /** While it is so, nobody waits for acknowledgements. */
  set isClientUnheard(isSo: boolean) {
    this.#isClientUnheard = isSo
    if (this.#credit) this.#credit.isClientUnheard = isSo
  }

  /** Resolves when the agent had room for it, or the terminal is gone. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#terminal.write(bytes)
  }

  resize({ cols, rows }: Size): void {
    this.#terminal.resize(cols, rows)
  }

  /** Nothing more is told. */
  close(): void {
    this.#isClosed = true
    this.#terminal.close()
  }

  #later(tell: () => void): void {
    if (this.#isClosed) return
    if (this.#held) this.#held.push(tell)
    else tell()
  }

  #take(bytes: Uint8Array): void {
    const ofScreen = bytes.subarray(0, this.#ofScreen ?? 0)
    if (ofScreen.length > 0) this.#passScreen(ofScreen)
    if (ofScreen.length === bytes.length) return
    this.#position += bytes.length - ofScreen.length
    this.#handlers.output(bytes.subarray(ofScreen.length))
  }

  #resync(offset: number, snapshotBytes: number): void {
    this.#credit?.skip(offset - this.#position, offset)
    this.#position = offset
    this.#expectScreen(snapshotBytes)
  }

  #expectScreen(bytes: number): void {
    this.#ofScreen = bytes
    this.#isScreenBegun = false
    if (bytes === 0) this.#passScreen(NOTHING)
  }

  #passScreen(bytes: Uint8Array): void {
    const missing = (this.#ofScreen ?? 0) - bytes.length
    const isFirst = !this.#isScreenBegun
    this.#isScreenBegun = true
    this.#ofScreen = missing === 0 ? undefined : missing
    const offset = missing === 0 ? this.#position : undefined
    this.#handlers.screen({ bytes, isFirst, offset }, () => this.#terminal.consumed(bytes.length))
  }
}
