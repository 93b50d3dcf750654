import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IncomingFile, ReceivedForm, Upload } from '../kernel/upload.ts'
import { receiveForm } from './multipart.ts'

/** A client that sends nothing for this long has gone, whatever its connection says. */
const SILENCE_MS = 60_000
/** What is still read of a body after it was refused: enough for clients that look up only when they have sent all. */
const DRAINED_BYTES = 64 * 1024 * 1024

/** Bodies of these routes are left alone until the handler reads them, whatever their type and size. */
export function acceptUploads(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('finish', () => drain(request.raw))
    done()
  })
}

export const uploadIn = (request: FastifyRequest): Upload => new HttpUpload(request.raw)

class HttpUpload implements Upload {
  readonly announcedBytes: number | undefined
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage) {
    this.#message = message
    const length = message.headers['content-length']
    this.announcedBytes = length === undefined ? undefined : Number(length)
  }

  async receiveForm<T>(field: string, save: (file: IncomingFile) => Promise<T>): Promise<ReceivedForm<T>> {
    const message = this.#message
    message.setTimeout(SILENCE_MS, () => message.destroy())
    try {
      return await receiveForm(message, field, save)
    } finally {
      message.setTimeout(0)
    }
  }
}

/**
 * Answered before all of the body came: reads on for a while, because many clients would take a connection that is
 * closed at once for a failure and never show the answer.
 */
function drain(message: IncomingMessage): void {
  if (message.complete || message.destroyed) return
  let left = DRAINED_BYTES
  message.unpipe()
  message.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) message.destroy()
  })
  message.setTimeout(SILENCE_MS, () => message.destroy())
  message.once('end', () => message.setTimeout(0))
  message.resume()
}
