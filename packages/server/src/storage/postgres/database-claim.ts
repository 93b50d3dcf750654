import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { DatabaseInUse } from '../database-in-use.ts'
import { type ClaimConnection, type Holder, tryClaim } from './claim-connection.ts'
import { parseAddress, type ServerAddress, unavailable } from './server-address.ts'

/** The lock of a killed server goes with its connection, which may take PostgreSQL a moment to notice. */
const WAIT_FOR_MS = 5_000
const WAIT_STEP_MS = 500

const RECONNECT_EVERY_MS = 1_000

interface ClaimParts {
  readonly url: string
  readonly clock: Clock
  readonly logger: Logger
  /** Told when the claim was lost and another server has it: what this one remembers is no longer the truth. */
  readonly onLost: (error: Error) => void
}

/**
 * Keeps a PostgreSQL database to one server, by a lock that belongs to a connection of its own: it cannot outlive the
 * process. Two servers would not hear of each other's changes, and answer from what they remember.
 */
export class DatabaseClaim {
  readonly #parts: ClaimParts
  readonly #address: ServerAddress
  readonly #releasing = new AbortController()
  #connection: ClaimConnection
  #retaking: Promise<void> | undefined

  private constructor(parts: ClaimParts, connection: ClaimConnection) {
    this.#parts = parts
    this.#address = parseAddress(parts.url)
    this.#connection = connection
    this.#watch(connection)
  }

  /** Throws `DatabaseInUse` or `StorageUnavailable`; `ending` gives up waiting for another server to let go. */
  static async take({ ending, ...parts }: ClaimParts & { readonly ending: AbortSignal }): Promise<DatabaseClaim> {
    const { url, clock, logger } = parts
    const address = parseAddress(url)
    const untilMs = clock.nowMs() + WAIT_FOR_MS
    for (let waiting = false; ; waiting = true) {
      const attempt = await tryClaim(url, clock, ending).catch((cause: unknown) => {
        throw ending.aborted ? ending.reason : unavailable(address, cause)
      })
      if (attempt.taken) return new DatabaseClaim(parts, attempt.connection)
      if (clock.nowMs() >= untilMs) throw inUse(address, attempt.holder)
      if (!waiting) logger.warning(`another svcd is using the database; trying again for ${WAIT_FOR_MS / 1000} s`)
      await pause(clock, WAIT_STEP_MS, ending)
    }
  }

  /** Afterwards nothing is under way, and another server can take it. Releasing twice is not an error. */
  async release(): Promise<void> {
    this.#releasing.abort()
    await this.#retaking
    await this.#connection.close()
  }

  #watch(connection: ClaimConnection): void {
    void connection.ended.then((error) => {
      if (this.#releasing.signal.aborted) return
      this.#parts.logger.warning('lost the connection that keeps other servers off the database', { error })
      this.#retaking = this.#retake(connection.session)
    })
  }

  /** Until it is ours again, or another's, or released. Meanwhile the server goes on. */
  async #retake(formerSession: string | undefined): Promise<void> {
    const { url, clock, logger, onLost } = this.#parts
    const { signal } = this.#releasing
    for (; !signal.aborted; await pause(clock, RECONNECT_EVERY_MS, signal)) {
      const attempt = await tryClaim(url, clock, signal).catch((error: unknown) => {
        logger.debug('the database cannot be claimed again yet', { error })
      })
      if (!attempt) continue
      if (attempt.taken) {
        logger.info('this server keeps others off the database again')
        this.#connection = attempt.connection
        return this.#watch(attempt.connection)
      }
      // Our own connection may live on at the other end, where its loss was not noticed yet.
      const isOwn = attempt.holder?.session === formerSession
      if (attempt.holder && !isOwn) return onLost(inUse(this.#address, attempt.holder))
    }
  }
}

function inUse({ host, port, database }: ServerAddress, holder: Holder | undefined): DatabaseInUse {
  const from = holder?.address === undefined ? '' : ` from ${holder.address}`
  const since = holder?.since === undefined ? '' : ` since ${holder.since.toISOString()}`
  const who = from || since ? ` (connected${from}${since})` : ''
  return new DatabaseInUse(
    `Another svcd${who} is using the PostgreSQL database "${database}" at ${host}:${port}; stop it first`,
  )
}

/** Resolves after the time, or at once when `signal` is aborted. */
function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(delayMs, done)
    if (signal.aborted) done()
    else signal.addEventListener('abort', done, { once: true })
  })
}
