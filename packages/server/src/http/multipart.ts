import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../kernel/app-error.ts'
import type { IncomingFile, ReceivedForm } from '../kernel/upload.ts'

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
  let incoming: Readable | undefined
  let saving: Promise<T> | undefined

  parser.on('field', (name: string, value: string, _nameIsCut: boolean, valueIsCut: boolean) => {
    if (valueIsCut) parsed.reject(new AppError('bad_request', `The field ${name} is too long`))
    else if (!fields.has(name)) fields.set(name, value)
  })
  parser.on('file', (name: string, content: Readable, fileName: string | undefined) => {
    // Whoever reads it hears of a failure too; unheard it would end the process.
    content.on('error', parsed.reject)
    if (name !== field || saving) {
      content.resume()
      return
    }
    incoming = content
    saving = save({ name: fileName ?? '', content })
    saving.catch(parsed.reject)
  })
  parser.on('error', (error: unknown) => parsed.reject(new AppError('bad_request', NO_FORM, { cause: error })))
  parser.on('finish', parsed.resolve)
  const brokenOff = () => {
    if (!message.complete) parsed.reject(new AppError('bad_request', 'The upload was broken off'))
  }
  message.once('close', brokenOff).once('error', brokenOff)
  message.pipe(parser)
  try {
    await parsed.promise
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
  if (!/^multipart\/form-data\b/i.test(type)) throw new AppError('bad_request', NO_FORM)
  try {
    return new Busboy({ headers: { ...message.headers, 'content-type': type }, limits: LIMITS })
  } catch (error) {
    throw new AppError('bad_request', NO_FORM, { cause: error })
  }
}
