import { chmod, lstat, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/logger.ts'
import { plainAddress } from './client-address.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'

/** An address in use may be a predecessor that is still letting go: worth waiting for, but not for ever. */
const RETRY_FOR_MS = 30_000
const RETRY_EVERY_MS = 500
/** Above the idle time of common proxies, so that it is they who close a connection, never we under their next request. */
const KEEP_ALIVE_MS = 72_000
/** For a whole request: a large upload over a slow line takes its time. One that stands still is ended sooner. */
const REQUEST_MS = 3_600_000

const KEPT_OUT = JSON.stringify({ detail: 'Workspaces cannot use this address', code: 'permission_denied' })
const CLOSING = JSON.stringify({ detail: 'The server is stopping', code: 'unavailable' })

export type Address = { readonly host: string; readonly port: number } | { readonly socketPath: string }

/** The address could not be had. `retryable`: another program holds it; otherwise the setting itself is wrong. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly retryable: boolean
  /** Which settings say where to listen. */
  readonly settings: string

  constructor(address: Address, reason: string, options: { retryable: boolean; cause?: unknown }) {
    super(`${inWords(address)} ${reason}`, { cause: options.cause })
    this.retryable = options.retryable
    this.settings = 'socketPath' in address ? 'SVCD_SOCKET' : 'SVCD_LISTEN or SVCD_PORT'
  }
}

/** Takes a connection over for another protocol. From then on it is the taker's to close. */
export type UpgradeHandler = (upgrade: Upgrade) => void

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What the client sent right behind its request. */
  readonly head: Buffer
}

interface ListenerParts {
  readonly handler: RequestListener
  /** Without one an upgrade is an ordinary request. */
  readonly upgrade?: UpgradeHandler
  readonly clock: Clock
  readonly log: Logger
  /** Whose connections are refused, by the address of the peer itself: forwarded headers are anybody's to write. */
  readonly isKeptOut?: (peer: string) => boolean
}

/** One listening address. Owns its connections, but those that were upgraded, until `close`. */
export class Listener {
  readonly #server: Server
  readonly #clock: Clock
  readonly #log: Logger
  readonly #isKeptOut: (peer: string) => boolean

  /** Requests under way. */
  readonly #answering = new Set<ServerResponse>()
  /** Every connection that is still ours. Node would also wait for those that were upgraded. */
  readonly #connections = new Set<Duplex>()
  #whenNoneIsLeft: (() => void) | undefined
  readonly #keptOut = new WeakSet<Socket>()
  #closing = false

  constructor({ handler, upgrade, clock, log, isKeptOut = () => false }: ListenerParts) {
    this.#server = createServer(
      {
        keepAliveTimeout: KEEP_ALIVE_MS,
        requestTimeout: REQUEST_MS,
        shouldUpgradeCallback: upgrade ? isForWebSocket : () => false,
      },
      (request, response) => {
        this.#answering.add(response)
        response.once('close', () => this.#answered(response))
        if (this.#closing) response.shouldKeepAlive = false
        if (this.#keptOut.has(request.socket)) refuse(response)
        else handler(request, response)
      },
    )
    this.#server.on('connection', (socket: Socket) => this.#own(socket))
    if (upgrade) this.#server.on('upgrade', (request, socket, head) => this.#hand(upgrade, { request, socket, head }))
    this.#clock = clock
    this.#log = log
    this.#isKeptOut = isKeptOut
  }

  /** Resolves once the address is ours. `ending` gives up waiting for one that is in use. */
  async listen(address: Address, ending?: AbortSignal): Promise<void> {
    if ('socketPath' in address) await clearStaleSocket(address)
    else this.#server.on('connection', (socket: Socket) => this.#noteOrRefusePeer(socket))
    const untilMs = this.#clock.nowMs() + RETRY_FOR_MS
    for (let waiting = false; ; waiting = true) {
      const failure = await this.#tryListen(address)
      if (!failure) break
      if (failure.code !== 'EADDRINUSE' || this.#clock.nowMs() >= untilMs) throw listenError(address, failure)
      if (!waiting) this.#log.warning(`${inWords(address)} is in use; trying again for ${RETRY_FOR_MS / 1000} s`)
      await this.#pause(ending)
    }
    if ('socketPath' in address) await chmod(address.socketPath, 0o600)
  }

  #pause(ending: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        cancel()
        reject(ending?.reason)
      }
      const cancel = this.#clock.after(RETRY_EVERY_MS, () => {
        ending?.removeEventListener('abort', giveUp)
        resolve()
      })
      if (ending?.aborted) giveUp()
      else ending?.addEventListener('abort', giveUp, { once: true })
    })
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
    this.#closing = true
    for (const response of this.#answering) response.shouldKeepAlive = false
    const closed = new Promise<void>((resolve) => {
      this.#whenNoneIsLeft = resolve
    })
    this.#server.close()
    const cancel = this.#clock.after(graceMs, () => {
      this.#log.warning('requests were still under way at the end of the grace time; ending them')
      this.#server.closeAllConnections()
    })
    this.#endIfDone()
    if (this.#connections.size > 0) await closed
    cancel()
  }

  #own(socket: Duplex): void {
    this.#connections.add(socket)
    socket.once('close', () => this.#letGo(socket))
  }

  #letGo(socket: Duplex): void {
    this.#connections.delete(socket)
    if (this.#connections.size === 0) this.#whenNoneIsLeft?.()
  }

  #hand(take: UpgradeHandler, { request, socket, head }: Upgrade): void {
    socket.on('error', () => socket.destroy()) // nobody else may listen yet, and an error nobody hears ends the process
    if (this.#keptOut.has(request.socket)) {
      refuseUpgrade(socket, 403, KEPT_OUT)
    } else if (this.#closing) {
      refuseUpgrade(socket, 503, CLOSING)
    } else {
      this.#letGo(socket)
      this.#giveAway(take, { request, socket, head })
    }
  }

  /** One upgrade that goes wrong must not end the process. */
  #giveAway(take: UpgradeHandler, upgrade: Upgrade): void {
    try {
      take(upgrade)
    } catch (error) {
      this.#log.error('a connection could not be taken over', { error })
      upgrade.socket.destroy()
    }
  }

  /**
   * Only a connection of the private socket has no peer address, and it is trusted for that. A client that resets its
   * connection at once would look the same when its request is read, so the address is noted (Node keeps it) or missed
   * now.
   */
  #noteOrRefusePeer(socket: Socket): void {
    const peer = plainAddress(socket.remoteAddress ?? '')
    if (peer === undefined) socket.destroy()
    else if (this.#isKeptOut(peer)) this.#keptOut.add(socket)
  }

  #answered(response: ServerResponse): void {
    this.#answering.delete(response)
    if (this.#closing) this.#endIfDone()
  }

  /** What is open then is idle, or has sent half a request: nobody waits for either. */
  #endIfDone(): void {
    if (this.#answering.size === 0) this.#server.closeAllConnections()
  }
}

/** Other protocols, such as `h2c`, are offers that a server may pass over: those are ordinary requests. */
const isForWebSocket = (request: IncomingMessage): boolean => request.headers.upgrade?.toLowerCase() === 'websocket'

function refuse(response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'application/json; charset=utf-8', connection: 'close' }).end(KEPT_OUT)
}

const inWords = (address: Address): string =>
  'socketPath' in address ? `The socket ${address.socketPath}` : `${address.host}:${address.port}`

function listenError(address: Address, cause: NodeJS.ErrnoException): ListenError {
  switch (cause.code) {
    case 'EADDRINUSE':
      return new ListenError(address, 'is in use by another program', { retryable: true, cause })
    case 'EACCES':
      return new ListenError(address, 'is not for this user to listen on', { retryable: false, cause })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(address, 'is not an address of this machine', { retryable: false, cause })
    default:
      return new ListenError(address, `cannot be listened on (${cause.code})`, { retryable: false, cause })
  }
}

/** A socket file outlives a killed server. It may go only when it is a socket, and nobody answers behind it. */
async function clearStaleSocket(address: { readonly socketPath: string }): Promise<void> {
  const { socketPath } = address
  const file = await lstat(socketPath).catch(() => undefined)
  if (!file) return
  if (!file.isSocket()) throw new ListenError(address, 'is a file that is no socket', { retryable: false })
  const failure = await connectionFailure(socketPath)
  if (failure === 'ECONNREFUSED') await rm(socketPath)
  else throw new ListenError(address, 'is in use by another server', { retryable: true })
}

/** Why nobody can be reached there; undefined when somebody can. */
function connectionFailure(socketPath: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = connect(socketPath, () => {
      probe.destroy()
      resolve(undefined)
    }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
}
