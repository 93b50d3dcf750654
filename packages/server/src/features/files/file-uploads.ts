import { AppError } from '../../kernel/app-error.ts'
import type { Upload } from '../../kernel/upload.ts'
import type { Origin } from '../audit/audit-entry.ts'
import { containerPath, pathIn } from './container-path.ts'
import type { FileTrail } from './file-trail.ts'
import type { RunningFiles } from './running-files.ts'

const MB = 1024 * 1024
/** What a form may have around its file. */
const FORM_BYTES = MB
/** Where a file goes when nobody says where. */
const DEFAULT_FOLDER = '/home/svc'

interface FileUploadsParts {
  readonly running: RunningFiles
  readonly trail: FileTrail
  readonly maxBytes: () => number
}

/**
 * Puts files into workspaces as they arrive; nothing of them is kept here. A file takes its place when all of it, and
 * the rest of the form, has come and the trail has its row. Until then, and whatever fails, what was there stays.
 */
export class FileUploads {
  readonly #parts: FileUploadsParts

  constructor(parts: FileUploadsParts) {
    this.#parts = parts
  }

  /** Answers the path of the file. */
  receive(origin: Origin, workspaceId: string, upload: Upload, text: string | undefined): Promise<string> {
    const { running, trail, maxBytes } = this.#parts
    const limit = maxBytes()
    return running.use(workspaceId, {}, async ({ files, touch }) => {
      const wanted = text ? containerPath(text) : undefined
      if ((upload.announcedBytes ?? 0) > limit + FORM_BYTES) throw tooLarge(limit)
      const { file } = await upload.receiveForm('file', async (incoming) => {
        const path = wanted ?? defaultPath(incoming.name)
        let recorded: number | undefined
        const writing = files.write(path, incoming.content, {
          taking: (size) => {
            if (size > limit) throw tooLarge(limit)
            touch()
          },
          async beforeKept(size) {
            await incoming.whole
            await trail.record(origin, 'file.write', workspaceId, { path, size })
            recorded = size
          },
        })
        try {
          await writing
        } catch (error) {
          // It could not take its place after all.
          if (recorded !== undefined) {
            await trail.record(origin, 'file.write', workspaceId, { path, size: recorded, incomplete: true })
          }
          throw error
        }
        return path
      })
      return file
    })
  }
}

function defaultPath(name: string): string {
  if (name === '' || name === '.' || name === '..') throw new AppError('bad_request', 'No filename provided')
  return containerPath(pathIn(DEFAULT_FOLDER, name))
}

const tooLarge = (limit: number): AppError =>
  new AppError('payload_too_large', `File exceeds ${Number((limit / MB).toFixed(2))} MB limit`)
