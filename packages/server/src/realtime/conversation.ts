import { type BinaryKind, decodeBinary } from '@svc/protocol/ws/binary-frames'
import type { Command } from '@svc/protocol/ws/client-frames'
import { closeCodes } from '@svc/protocol/ws/close-codes'
import type { Clock } from '../kernel/clock.ts'
import type { BinaryTable, FrameInput, FrameNeed, FrameRefusal, FrameRow, FrameTable, Lane } from '../kernel/frame.ts'
import { FrameError } from '../kernel/frame-error.ts'
import type { Logger } from '../kernel/logger.ts'
import type { Peer } from '../kernel/peer.ts'
import { Answers, type Question } from './answers.ts'
import type { Connection } from './connection.ts'
import { type Allows, denied, isAllowed } from './frame-access.ts'
import { Lanes } from './lanes.ts'
import { MalformedFrames } from './malformed-frames.ts'
import { type ClientMessage, readFrame } from './read-frame.ts'

/** A socket that has a workspace open, as far as it matters here. */
export interface InWorkspace {
  readonly workspaceId: string
}

/** What is the same for all sockets. */
export interface ConversationRules<A extends InWorkspace> {
  readonly frames: FrameTable<A>
  readonly binary: BinaryTable<A>
  readonly attachmentOf: (peer: Peer) => A | undefined
  readonly allows: Allows
  readonly isDebugging: () => boolean
  readonly clock: Clock
  readonly log: Logger
}

/** What one client says: each message is read, its turn awaited, its permission checked, and it is answered. */
export class Conversation<A extends InWorkspace> {
  readonly #connection: Connection
  readonly #rules: ConversationRules<A>
  readonly #answers: Answers
  readonly #lanes = new Lanes()
  readonly #malformed: MalformedFrames
  #hasBegun = false

  constructor(connection: Connection, rules: ConversationRules<A>) {
    this.#connection = connection
    this.#rules = rules
    this.#answers = new Answers(connection, rules.log)
    this.#malformed = new MalformedFrames(rules.clock)
  }

  hear(bytes: Buffer, isBinary: boolean): void {
    if (isBinary) this.#hearBinary(bytes)
    else this.#hearText(bytes)
    this.#hasBegun = true
  }

  #hearText(bytes: Buffer): void {
    const message = readFrame(bytes)
    this.#note('malformed' in message ? 'malformed' : message.command, bytes)
    if ('malformed' in message) {
      this.#refuseMalformed(message, message.malformed)
    } else if (message.command === 'hello' && this.#hasBegun) {
      this.#refuseMalformed(message, '`hello` comes first of all, and once')
    } else {
      const row: FrameRow<A, Command> = this.#rules.frames[message.command]
      this.#inTurn(row.lane, bytes, () => this.#deal(row, message))
    }
  }

  #hearBinary(bytes: Buffer): void {
    const frame = this.#connection.has('bin') ? decodeBinary(bytes) : undefined
    this.#note(frame?.kind ?? 'malformed', bytes)
    const { binary } = this.#rules
    const row = frame && isFromClient(frame.kind, binary) ? binary[frame.kind] : undefined
    if (!frame || !row) {
      this.#refuseMalformed({}, 'No binary message of this kind is understood here')
      return
    }
    this.#inTurn(row.lane, bytes, () => {
      try {
        row.handle({ peer: this.#connection, attachment: this.#requireAttachment(), frame })
      } catch (error) {
        this.#answers.failed({ command: frame.kind }, error)
      }
    })
  }

  /** While a message waits, its bytes count as held: a client cannot pile up more than a bound. */
  #inTurn(lane: Lane, { length }: Buffer, work: () => void | Promise<void>): void {
    const release = this.#lanes.mustWait(lane) ? this.#connection.hold(length) : undefined
    this.#lanes.run(lane, () => {
      release?.()
      return this.#connection.gone.aborted ? undefined : work()
    })
  }

  /** Never fails; without a promise where nothing has to be waited for, because every key pressed comes this way. */
  #deal(row: FrameRow<A, Command>, message: ClientMessage): void | Promise<void> {
    const { command, frame, req } = message
    const isAwaited = this.#answers.isAwaited(message)
    let isAnswered = !isAwaited
    const input: FrameInput<Command> = {
      peer: this.#connection,
      frame,
      isAwaited,
      reply: (answer) => {
        isAnswered = true
        this.#answers.answer(message, answer)
      },
    }
    const done = (): void => {
      if (!isAnswered && req !== undefined) this.#connection.send({ type: 'ack', req, cmd: command })
    }
    try {
      const handled = this.#handle(row, input)
      if (handled) return handled.then(done).catch((error: unknown) => this.#answers.failed(message, error))
      done()
    } catch (error) {
      this.#answers.failed(message, error)
    }
  }

  #handle(row: FrameRow<A, Command>, input: FrameInput<Command>): void | Promise<void> {
    const { renewal, gone } = this.#connection
    if (gone.aborted) return undefined
    if (renewal) return renewal.then(() => this.#handle(row, input))
    switch (row.scope) {
      case 'connection':
        return row.handle(input)
      case 'named workspace':
        return this.#ifAllowed(row, row.workspaceIn(input.frame), () => row.handle(input))
      case 'workspace':
        return this.#ifAllowed(row, this.#requireAttachment().workspaceId, () =>
          row.handle({ ...input, attachment: this.#requireAttachment() }),
        )
    }
  }

  #ifAllowed(
    { needs, refusal = 'action' }: { needs: FrameNeed; refusal?: FrameRefusal },
    workspaceId: string,
    handle: () => void | Promise<void>,
  ): void | Promise<void> {
    const verdict = isAllowed(this.#rules.allows, this.#connection.caller, needs, workspaceId)
    if (verdict === true) return handle()
    if (verdict === false) throw denied(refusal)
    return verdict.then((isYes) => {
      if (!isYes) throw denied(refusal)
      return this.#connection.gone.aborted ? undefined : handle()
    })
  }

  #requireAttachment(): A {
    const attachment = this.#rules.attachmentOf(this.#connection)
    if (!attachment) throw new FrameError('not_connected', 'No workspace is open on this connection')
    return attachment
  }

  #refuseMalformed(question: Question, why: string): void {
    this.#answers.refuse(question, { code: 'invalid', message: why })
    if (this.#malformed.isOneTooMany()) this.#connection.close(closeCodes.policy, 'Too many malformed messages')
  }

  /** Never what is in a message: people type passwords. */
  #note(kind: string, { length: bytes }: Buffer): void {
    const { isDebugging, log } = this.#rules
    if (isDebugging()) log.info('message from a client', { kind, bytes, connection: this.#connection.id })
  }
}

function isFromClient<A>(kind: BinaryKind, table: BinaryTable<A>): kind is keyof BinaryTable<A> {
  return Object.hasOwn(table, kind)
}
