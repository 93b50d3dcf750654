import type { ServerResponse } from 'node:http'
import type { Logger } from '../kernel/logger.ts'
import type { RequestFacts } from '../kernel/route.ts'

/** Told of every request that is over, for the metrics. */
export type OnFinished = (route: string, method: string, status: number, seconds: number) => void

/** The status by which metrics count a request that nobody waited for; never sent. */
export const CLIENT_WENT_AWAY = 499

/** Sees to it that the end of each request is noted, however it ends: in a line of the log and in the metrics. */
export class AccessLog {
  readonly #log: Logger
  readonly #onFinished: OnFinished | undefined

  constructor(parts: { log: Logger; onFinished?: OnFinished | undefined }) {
    this.#log = parts.log.child('access')
    this.#onFinished = parts.onFinished
  }

  /** To be called once for each request. `routeOf` is asked at the end. */
  follow(facts: RequestFacts, response: ServerResponse, routeOf: () => string): void {
    const startedMs = performance.now()
    const client = facts.clientAddress // now: a connection that broke no longer knows its peer
    // `close` comes in any case; Fastify's own hook does not when the client goes away early.
    response.once('close', () => {
      const status = response.writableFinished ? response.statusCode : undefined
      this.note(facts, { status, client, elapsedMs: performance.now() - startedMs, route: routeOf() })
    })
  }

  /** For an exchange whose end somebody else sees. Without a status nobody was there to be answered. */
  note(
    { method, path, id }: RequestFacts,
    seen: { status: number | undefined; client: string | undefined; elapsedMs: number; route: string },
  ): void {
    const { status, client, elapsedMs, route } = seen
    this.#log.info(`${method} ${path} ${status ?? 'aborted'}`, {
      ms: Math.round(elapsedMs * 10) / 10,
      client,
      request_id: id,
    })
    this.#onFinished?.(route, method, status ?? CLIENT_WENT_AWAY, elapsedMs / 1000)
  }
}
