import { mkdir, rm } from 'node:fs/promises'
import type { Channel } from '@svc/protocol/agent/channels'
import type { Places } from '../places.ts'
import type { RequestFields } from '../request-fields.ts'
import { archive } from './archive.ts'
import { ByteInbox } from './byte-inbox.ts'
import { listDirectory, readEntry } from './entries.ts'
import { makeParents } from './make-parents.ts'
import { refuseProtected } from './protected-paths.ts'
import { readFile } from './read-file.ts'
import { renameFile } from './rename-file.ts'
import { writeFile } from './write-file.ts'

/** The requests about files; see `FileRequest`. What the system refuses to the user is refused here. */
export class Files {
  readonly #places: Places

  constructor(places: Places) {
    this.#places = places
  }

  async list(fields: RequestFields, channel: Channel): Promise<void> {
    let isEmpty = true
    for await (const entries of listDirectory(fields.path('path'))) {
      isEmpty = false
      channel.message({ type: 'entries', entries })
    }
    if (isEmpty) channel.message({ type: 'entries', entries: [] })
  }

  async stat(fields: RequestFields, channel: Channel): Promise<void> {
    channel.message({ type: 'stat', entry: await readEntry(fields.path('path')) })
  }

  read(fields: RequestFields, channel: Channel): Promise<void> {
    return readFile(fields.path('path'), channel)
  }

  archive(fields: RequestFields, channel: Channel): Promise<void> {
    return archive(fields.path('path'), channel)
  }

  async write(fields: RequestFields, channel: Channel): Promise<void> {
    const content = new ByteInbox(channel)
    await writeFile(fields.path('path'), content, (size) => {
      channel.message({ type: 'written', size })
      return content.keep
    })
  }

  async rename(fields: RequestFields): Promise<void> {
    const [from, to] = [fields.path('from'), fields.path('to')]
    await refuseProtected(from, this.#places)
    await renameFile(from, to)
  }

  async remove(fields: RequestFields): Promise<void> {
    const path = fields.path('path')
    await refuseProtected(path, this.#places)
    await rm(path, { recursive: true })
  }

  async makeDirectory(fields: RequestFields): Promise<void> {
    const path = fields.path('path')
    await makeParents(path)
    await mkdir(path)
  }
}
