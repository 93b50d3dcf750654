import { constants } from 'node:fs'
import { chmod, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { TOKEN_FILE } from '@svc/protocol/agent/requests'
import { RequestError } from '../request-error.ts'
import { uniqueId } from '../unique-id.ts'

/** The file in which programs in the workspace find its token; a reader sees the old one or the new one, whole. */
export class TokenFile {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async write(token: string): Promise<void> {
    await this.ensureFolder()
    const draft = `${this.#folder}/.token-${uniqueId()}`
    try {
      const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
      try {
        await file.writeFile(token)
      } finally {
        await file.close()
      }
      await rename(draft, `${this.#folder}/${basename(TOKEN_FILE)}`)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  /** In a place where anybody can make names, only a directory of our own will do. */
  async ensureFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const stats = await lstat(this.#folder)
    if (!stats.isDirectory() || stats.uid !== process.getuid?.()) {
      throw new RequestError('not_permitted', `${this.#folder} belongs to somebody else`)
    }
    if ((stats.mode & 0o777) !== 0o700) await chmod(this.#folder, 0o700)
  }
}
