import { chmod, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:net'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'

/** An address in use may be a predecessor that is still letting go: worth waiting for, but not for ever. */
const RETRY_FOR_MS = 30_000
const RETRY_EVERY_MS = 500
/** Above the idle time of common proxies, so that it is they who close a connection, never we under their next request. */
const KEEP_ALIVE_MS = 72_000
const IDLE_SWEEP_MS = 50

export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string }

/** The address could not be had. `retryable`: another program holds it; otherwise the setting itself is wrong. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly retryable: boolean

  constructor(message: string, options: { retryable: boolean; cause: unknown }) {
    super(message, { cause: options.cause })
    this.retryable = options.retryable
  }
}

/** One listening address. Owns its connections until `close`. */
export class Listener {
  readonly #server: Server
  readonly #clock: Clock
  readonly #log: Logger

  constructor({ handler, clock, log }: { handler: RequestListener; clock: Clock; log: Logger }) {
    this.#server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, handler)
    this.#clock = clock
    this.#log = log
  }

  async listen(address: Address): Promise<void> {
    if ('socketPath' in address) await clearStaleSocket(address.socketPath)
    const untilMs = this.#clock.nowMs() + RETRY_FOR_MS
    for (let waiting = false; ; waiting = true) {
      const failure = await this.#tryListen(address)
      if (!failure) break
      if (failure.code !== 'EADDRINUSE' || this.#clock.nowMs() >= untilMs) throw listenError(address, failure)
      if (!waiting) this.#log.warning(`${inWords(address)} is in use; trying again for ${RETRY_FOR_MS / 1000} s`)
      await new Promise<void>((resolve) => this.#clock.after(RETRY_EVERY_MS, resolve))
    }
    if ('socketPath' in address) await chmod(address.socketPath, 0o600)
  }

  #tryListen(address: Address): Promise<NodeJS.ErrnoException | undefined> {
    const options = 'socketPath' in address ? { path: address.socketPath } : address
    const server = this.#server
    return new Promise((resolve) => {
      const settle = (error?: NodeJS.ErrnoException) => {
        server.off('error', settle).off('listening', settle)
        resolve(error)
      }
      server.once('error', settle).once('listening', settle).listen(options)
    })
  }

  /** The port in use, for those who asked for port 0. */
  get port(): number | undefined {
    const address = this.#server.address()
    return typeof address === 'object' ? address?.port : undefined
  }

  /** Takes no more connections, lets requests under way finish for `graceMs`, then ends what is left. */
  async close(graceMs: number): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // A connection that has answered its last request stays open for the next one; nobody may wait for that.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), IDLE_SWEEP_MS)
    const cancel = this.#clock.after(graceMs, () => {
      this.#log.warning('requests were still under way at the end of the grace time; ending them')
      this.#server.closeAllConnections()
    })
    await closed
    clearInterval(sweep)
    cancel()
  }
}

const inWords = (address: Address): string =>
  'socketPath' in address ? `The socket ${address.socketPath}` : `${address.host}:${address.port}`

function listenError(address: Address, cause: NodeJS.ErrnoException): ListenError {
  const place = inWords(address)
  switch (cause.code) {
    case 'EADDRINUSE':
      return new ListenError(`${place} is in use by another program`, { retryable: true, cause })
    case 'EACCES':
      return new ListenError(`${place}: this user may not listen there`, { retryable: false, cause })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(`${place}: this machine does not have that address`, { retryable: false, cause })
    default:
      return new ListenError(`${place}: cannot listen there (${cause.code})`, { retryable: false, cause })
  }
}

/** A socket file outlives a killed server. It is in the way only when nobody answers behind it. */
async function clearStaleSocket(path: string): Promise<void> {
  const answered = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })
  if (answered) {
    throw new ListenError(`The socket ${path} is in use by another server`, { retryable: true, cause: undefined })
  }
  await rm(path, { force: true })
}
