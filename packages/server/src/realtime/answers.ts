import type { FrameErrorCode, ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Logger } from '../kernel/logger.ts'
import type { Connection } from './connection.ts'
import { INTERNAL, refusalOf } from './error-frame.ts'

/** What an answer is to: its command, and the `req` by which the client knows it again. */
export interface Question {
  readonly command?: string | undefined
  readonly req?: string | undefined
}

/** Direct answers to one client. Only those who asked for `req` get it back. */
export class Answers {
  readonly #connection: Connection
  readonly #log: Logger

  constructor(connection: Connection, log: Logger) {
    this.#connection = connection
    this.#log = log
  }

  isAwaited({ req }: Question): boolean {
    return req !== undefined && this.#connection.has('req')
  }

  answer(question: Question, frame: ServerFrame): void {
    const { req } = question
    this.#connection.send(this.isAwaited(question) ? Object.assign({}, frame, { req }) : frame)
  }

  refuse(question: Question, { code, message }: { code: FrameErrorCode | undefined; message: string }): void {
    this.answer(question, {
      type: 'error',
      message,
      ...(code === undefined ? {} : { code }),
      ...(question.command === undefined ? {} : { cmd: question.command }),
    })
  }

  /** Says of a fault of ours only that it is one; the log has the rest. */
  failed(question: Question, error: unknown): void {
    const refusal = refusalOf(error)
    const { gone, request } = this.#connection
    if (!refusal && !gone.aborted) this.#log.error(`${question.command} failed`, { error, request_id: request.id })
    this.refuse(question, refusal ?? INTERNAL)
  }
}
