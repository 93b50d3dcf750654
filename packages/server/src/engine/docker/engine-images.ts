import { z } from 'zod'
import type { Clock } from '../../kernel/clock.ts'
import { EngineError, type ImageStorage } from '../container-engine.ts'
import type { EngineApi } from './engine-api.ts'
import { jsonLines } from './json-lines.ts'
import { isOk, NOT_FOUND, refusal } from './refusal.ts'

/** A registry may take a connection and then say nothing at all. */
const LONGEST_SILENCE_MS = 60_000

/** A line of the engine's report about a pull. The report begins before the outcome is known, with status 200. */
const ProgressLine = z.object({
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  /** Instead of a report, of an engine that refuses at once. */
  message: z.string().optional(),
})

type PullOptions = Parameters<ImageStorage['pull']>[1]

export class EngineImages implements ImageStorage {
  readonly #api: EngineApi
  readonly #prefix: string
  readonly #clock: Clock

  constructor({ api, prefix, clock }: { api: EngineApi; prefix: string; clock: Clock }) {
    this.#api = api
    this.#prefix = prefix
    this.#clock = clock
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

  async pull(image: string, options: PullOptions): Promise<void> {
    const silence = new AbortController()
    let cancel = () => {}
    const heard = () => {
      cancel()
      cancel = this.#clock.after(LONGEST_SILENCE_MS, () => silence.abort())
    }
    heard()
    try {
      await this.#pull(image, { ...options, signal: AbortSignal.any([options.signal, silence.signal]), onLine: heard })
    } catch (cause) {
      const isKnown = cause instanceof EngineError && !silence.signal.aborted
      if (options.signal.aborted || isKnown) throw cause
      const why = silence.signal.aborted ? 'nothing came for a minute' : 'the engine went away'
      throw new EngineError('failed', `could not fetch the image ${image}: ${why}`, { cause })
    } finally {
      cancel()
    }
  }

  async #pull(image: string, { signal, onProgress, onLine }: PullOptions & { onLine(): void }): Promise<void> {
    const what = `fetch the image ${image}`
    const path = `${this.#prefix}/images/create`
    const query = { fromImage: image, ...(hasTag(image) ? {} : { tag: 'latest' }) }
    const response = await this.#api.stream({ method: 'POST', path, query }, signal)
    const failures: string[] = []
    let last = ''
    for await (const line of jsonLines(response)) {
      onLine()
      const progress = ProgressLine.safeParse(line)
      if (!progress.success) continue
      const { status, id, error, message } = progress.data
      const failure = error ?? message
      if (failure !== undefined) failures.push(failure)
      const text = [id, status].filter((part) => part !== undefined).join(': ')
      if (text !== '' && text !== last) onProgress?.(text) // bars repeat the same words for each step
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
