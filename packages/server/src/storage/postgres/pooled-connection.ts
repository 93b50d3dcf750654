import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { PoolClient } from 'pg'

/** What `pg` says, without a code, when its `query_timeout` has passed. */
const NO_ANSWER = 'Query read timeout'

/**
 * A connection of the pool, as Kysely sees it. Once a query got no answer in time, the connection is never used again:
 * `pg` would go on waiting for that answer and queue every later query, of whoever gets the connection next, behind it.
 */
export class PooledConnection implements PostgresPoolClient {
  readonly #client: PoolClient
  #lost: Error | undefined

  constructor(client: PoolClient) {
    this.#client = client
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(sql: unknown, parameters: readonly unknown[] = []): unknown {
    if (typeof sql !== 'string') throw new Error('streaming is not supported: page through the rows instead')
    return this.#run(sql, parameters)
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#lost !== undefined)
  }

  async #run(sql: string, parameters: readonly unknown[]) {
    if (this.#lost) throw this.#lost // such as the rollback that follows
    try {
      return await this.#client.query(sql, [...parameters])
    } catch (error) {
      if (error instanceof Error && error.message === NO_ANSWER) {
        this.#lost = new Error('the database did not answer in time', { cause: error })
      }
      throw this.#lost ?? error
    }
  }
}
