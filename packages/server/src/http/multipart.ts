import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../kernel/app-error.ts'
import type { IncomingFile, ReceivedForm } from '../kernel/upload.ts'
import { InvalidRequest, missingField } from './validation.ts'

/** A form beside a file has a few short fields; a hostile one would have many, or long ones. */
const LIMITS = { fields: 20, fieldSize: 64 * 1024, parts: 30, headerPairs: 50, headerSize: 16 * 1024 }

const NO_FORM = 'Send the file as multipart/form-data'

/** See `Upload.receiveForm`. */
export async function receiveForm<T>(
  message: IncomingMessage,
  field: string,
  save: (file: IncomingFile) => Promise<T>,
): Promise<ReceivedForm<T>> {
  const parser = parserFor(message)
  const fields = new Map<string, string>()
  const parsed = Promise.withResolvers<void>()
  const malformed = (cause: unknown) => parsed.reject(new AppError('bad_request', NO_FORM, { cause }))
  let incoming: Readable | undefined
  let saving: Promise<T> | undefined

  parser.on('field', (name: string, value: string, _nameIsCut: boolean, valueIsCut: boolean) => {
    if (valueIsCut) parsed.reject(new AppError('bad_request', `The field ${name} is too long`))
    else if (!fields.has(name)) fields.set(name, value)
  })
  parser.on('file', (name: string, content: Readable, fileName: string | undefined) => {
    // Told by the parser when the form ends too early. Who reads it may destroy it too, and knows why better than we.
    content.on('error', (error) => {
      if (!content.destroyed) malformed(error)
    })
    if (name !== field || saving) {
      content.resume()
      return
    }
    incoming = content
    saving = save({ name: fileName ?? '', content, whole: parsed.promise })
    saving.catch(parsed.reject)
  })
  parser.on('error', malformed)
  parser.on('finish', parsed.resolve)
  const brokenOff = () => {
    if (!message.complete) parsed.reject(new AppError('bad_request', 'The upload was broken off'))
  }
  message.once('close', brokenOff).once('error', brokenOff)
  message.pipe(parser)
  try {
    await parsed.promise
    if (!saving) throw new InvalidRequest([missingField('body', field)])
    return { fields, file: await saving }
  } catch (error) {
    incoming?.destroy()
    await saving?.catch(() => undefined) // it has heard; what it made is gone before anybody is answered
    throw error
  } finally {
    message.unpipe(parser)
    message.off('close', brokenOff).off('error', brokenOff)
  }
}

function parserFor(message: IncomingMessage): BusboyInstance {
  const type = message.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) throw new AppError('unsupported_media_type', NO_FORM)
  try {
    return new Busboy({ headers: { ...message.headers, 'content-type': type }, limits: LIMITS })
  } catch (error) {
    throw new AppError('bad_request', NO_FORM, { cause: error })
  }
}
