import { z } from 'zod'
import type { ImageStorage } from '../container-engine.ts'
import type { EngineApi } from './engine-api.ts'
import { jsonLines } from './json-lines.ts'
import { isOk, refusal } from './refusal.ts'

const NOT_FOUND = 404

/** A line of the engine's report about a pull. The report begins before the outcome is known, with status 200. */
const ProgressLine = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
})

export class EngineImages implements ImageStorage {
  readonly #api: EngineApi
  readonly #prefix: string

  constructor({ api, prefix }: { api: EngineApi; prefix: string }) {
    this.#api = api
    this.#prefix = prefix
  }

  async has(image: string): Promise<boolean> {
    const answer = await this.#api.ask({
      method: 'GET',
      path: `${this.#prefix}/images/${encodeURIComponent(image)}/json`,
    })
    if (answer.status === NOT_FOUND) return false
    if (!isOk(answer)) throw refusal(`look for the image ${image}`, answer)
    return true
  }

  async pull(image: string, options: { signal: AbortSignal; onProgress?(text: string): void }): Promise<void> {
    const what = `fetch the image ${image}`
    const path = `${this.#prefix}/images/create`
    const query = { fromImage: image, ...(hasTag(image) ? {} : { tag: 'latest' }) }
    const response = await this.#api.stream({ method: 'POST', path, query }, options.signal)
    const failures: string[] = []
    let last = ''
    for await (const line of jsonLines(response)) {
      const progress = ProgressLine.safeParse(line)
      if (!progress.success) continue
      const { status, id, error } = progress.data
      if (error !== undefined) failures.push(error)
      const text = [id, status].filter((part) => part !== undefined).join(': ')
      if (text !== '' && text !== last) options.onProgress?.(text) // bars repeat the same words for each step
      last = text
    }
    const status = response.statusCode ?? 0
    const message = failures.at(-1) ?? `the engine answered ${status}`
    if (failures.length > 0 || !isOk({ status, body: undefined })) throw refusal(what, { status, body: { message } })
  }
}

/** A tag or digest stands after the last slash; a colon before it belongs to the registry's port. */
function hasTag(image: string): boolean {
  return /[:@]/.test(image.slice(image.lastIndexOf('/') + 1))
}
