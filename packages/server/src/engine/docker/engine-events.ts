import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { EngineListener } from '../container-engine.ts'
import { EventAnswer } from './answers.ts'
import { LABELS, onlyOurs } from './container-identity.ts'
import type { EngineApi } from './engine-api.ts'
import { jsonLines } from './json-lines.ts'
import { isOk, refusal } from './refusal.ts'

const FIRST_RETRY_MS = 50
const SLOWEST_RETRY_MS = 5_000

interface EventsParts {
  readonly api: EngineApi
  /** As in `/v1.41`. */
  readonly prefix: string
  readonly instanceId: string
  readonly clock: Clock
  readonly log: Logger
}

/** The engine's one stream of events about our containers, for all who want to know. */
export class EngineEvents {
  readonly #parts: EventsParts
  readonly #listeners = new Set<EngineListener>()
  readonly #ending = new AbortController()
  /** Ended, but not removed yet: the removal is no second death. */
  readonly #dead = new Set<string>()
  #reading: Promise<void> = Promise.resolve()
  #cancelRetry: (() => void) | undefined

  constructor(parts: EventsParts) {
    this.#parts = parts
  }

  /** Resolves when events are being received. */
  async start(): Promise<void> {
    const stream = await this.#open()
    this.#reading = this.#follow(stream)
  }

  /** The answer ends the subscription. */
  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#ending.abort()
    this.#cancelRetry?.()
    this.#listeners.clear()
    await this.#reading
  }

  async #open(): Promise<AsyncIterable<Uint8Array>> {
    const { api, prefix, instanceId } = this.#parts
    const query = { filters: onlyOurs(instanceId, { type: ['container'] }) }
    const response = await api.stream({ method: 'GET', path: `${prefix}/events`, query }, this.#ending.signal)
    const answer = { status: response.statusCode ?? 0, body: undefined }
    if (isOk(answer)) return response
    response.destroy()
    throw refusal('listen to the engine’s events', answer)
  }

  async #follow(stream: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const event of jsonLines(stream)) this.#tell(event)
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#parts.log.debug('the event stream was cut', { error })
    }
    if (!this.#ending.signal.aborted) this.#reopen(FIRST_RETRY_MS)
  }

  #reopen(delayMs: number): void {
    const { clock, log } = this.#parts
    this.#cancelRetry = clock.after(delayMs, () => {
      this.#reading = this.#open().then(
        (stream) => {
          this.#dead.clear()
          for (const listener of this.#listeners) listener.gap()
          return this.#follow(stream)
        },
        (error: unknown) => {
          if (this.#ending.signal.aborted) return
          log.warning('the container engine’s events cannot be heard; trying again', { error })
          this.#reopen(Math.min(delayMs * 2, SLOWEST_RETRY_MS))
        },
      )
    })
  }

  #tell(event: unknown): void {
    const parsed = EventAnswer.safeParse(event)
    if (!parsed.success) return
    const { Action: action, Actor: actor } = parsed.data
    const isRemoved = action === 'remove' || action === 'destroy'
    if (action !== 'die' && !isRemoved) return
    const isKnown = this.#dead.has(actor.ID)
    if (isRemoved) this.#dead.delete(actor.ID)
    else this.#dead.add(actor.ID)
    if (isKnown) return
    const death = { id: actor.ID, workspaceId: actor.Attributes[LABELS.workspace] ?? '' }
    for (const listener of this.#listeners) listener.died(death)
  }
}
