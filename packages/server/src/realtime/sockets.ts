import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type CloseCode, closeCodes } from '@svc/protocol/ws/close-codes'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Peer } from '../kernel/peer.ts'
import type { Caller, RequestFacts } from '../kernel/route.ts'
import { SocketRefused } from '../kernel/socket-refused.ts'
import { CLOSE_MS, Connection } from './connection.ts'
import { Conversation, type ConversationRules, type InWorkspace } from './conversation.ts'
import { agreedProtocol, offeredToken } from './offered-token.ts'
import type { OpenSockets } from './open-sockets.ts'

/** A refused client has nothing to say: more than a close frame is not read from it. */
const REFUSED_PAYLOAD_BYTES = 125
/** When the server stops, all together. */
const CLOSE_ALL_MS = 2_000

/**
 * Compression would cost every socket hundreds of kilobytes, and every key pressed a detour. One message of each client
 * at a time: two megabytes of tiny ones, which are read in one go, would keep everybody else waiting for seconds.
 */
const wsOptions = {
  noServer: true,
  perMessageDeflate: false,
  allowSynchronousEvents: false,
  handleProtocols: agreedProtocol,
  closeTimeout: CLOSE_MS,
} as const

export interface SocketUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  readonly facts: RequestFacts
}

export interface SignedIn {
  readonly caller: Caller
  /** Epoch seconds. */
  readonly expiresAt: number
}

interface SocketsParts<A extends InWorkspace> extends ConversationRules<A> {
  readonly maxMessageBytes: () => number
  readonly open: OpenSockets
  /** Throws `SocketRefused`. */
  signIn(token: string | undefined, facts: RequestFacts): Promise<SignedIn>
  /** The same person as they are now. Throws `SocketRefused`. */
  renew(caller: Caller): Promise<Caller>
  /** The first frames. */
  opened(peer: Peer): void | Promise<void>
  /** Any message came: somebody is there. */
  heard(peer: Peer): void
}

/** The `/ws` address: who may have a socket, and for how long. */
export class Sockets<A extends InWorkspace> {
  readonly #parts: SocketsParts<A>
  /** Made when it is needed first: what the settings say is not asked before. */
  #accepting: WebSocketServer | undefined
  readonly #refusing = new WebSocketServer({ ...wsOptions, maxPayload: REFUSED_PAYLOAD_BYTES })
  /** All that are not entirely over. */
  readonly #connections = new Set<Connection>()
  #ending: { readonly code: CloseCode; readonly reason: string } | undefined

  constructor(parts: SocketsParts<A>) {
    this.#parts = parts
  }

  /** A refusal completes the handshake first: only then does a client learn the reason. */
  accept(upgrade: SocketUpgrade): void {
    const { request, facts } = upgrade
    const token = offeredToken(request.headers['sec-websocket-protocol'])
    const signIn = () => this.#parts.signIn(token, facts)
    this.#requireOpen(signIn).then(
      (signedIn) =>
        this.#server().handleUpgrade(request, upgrade.socket, upgrade.head, (ws) => {
          void this.#begin(ws, upgrade, signedIn, signIn)
        }),
      (error: unknown) => this.refuse(upgrade, this.#refusalOf(error)),
    )
  }

  refuse({ request, socket, head, facts }: SocketUpgrade, { code, message }: SocketRefused): void {
    this.#refusing.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => undefined) // it says more than it may: it is being closed
      ws.close(code, message)
      facts.log.info(`socket refused with ${code}`, { client: facts.clientAddress })
    })
  }

  sessionsEnded(sessionIds: readonly string[]): void {
    for (const id of sessionIds) {
      for (const connection of this.#parts.open.ofSession(id)) connection.close(closeCodes.signedOut, 'Signed out')
    }
  }

  sessionRefreshed(sessionId: string, expiresAt: number): void {
    for (const connection of this.#parts.open.ofSession(sessionId)) connection.expireAt(expiresAt)
  }

  shutOut(userId: string): void {
    for (const connection of this.#parts.open.of(userId)) connection.close(closeCodes.signedOut, 'Account closed')
  }

  /** Until it is known who the person is now, none of their commands goes on. */
  accountChanged(userId: string): void {
    const { open, renew } = this.#parts
    for (const connection of open.of(userId)) {
      connection.renew(renew(connection.caller), (error) => this.#fail(connection, error))
    }
  }

  /** Takes no more, says goodbye to all, and waits for their answers for a moment. */
  async closeAll(code: CloseCode, reason: string): Promise<void> {
    this.#ending = { code, reason }
    for (const connection of this.#connections) connection.close(code, reason)
    const cutOff = this.#parts.clock.after(CLOSE_ALL_MS, () => {
      for (const connection of this.#connections) connection.terminate()
    })
    await Promise.all([...this.#connections].map(({ closed }) => closed))
    cutOff()
    for (const ws of this.#refusing.clients) ws.terminate()
  }

  #server(): WebSocketServer {
    this.#accepting ??= new WebSocketServer({ ...wsOptions, maxPayload: this.#parts.maxMessageBytes() })
    return this.#accepting
  }

  async #begin(ws: WebSocket, upgrade: SocketUpgrade, signedIn: SignedIn, signIn: () => Promise<SignedIn>) {
    const { open, clock, log, opened, heard } = this.#parts
    const { request, facts } = upgrade
    const connection = new Connection({
      id: randomUUID(),
      ws,
      socket: request.socket,
      caller: signedIn.caller,
      request: facts,
      clock,
    })
    const startedMs = clock.nowMs()
    this.#connections.add(connection)
    open.add(connection)
    connection.gone.addEventListener('abort', () => open.remove(connection), { once: true })
    ws.on('error', (error) => log.debug('a socket broke', { reason: error.message, request_id: facts.id }))
    const conversation = new Conversation(connection, this.#parts)
    ws.on('message', (data: RawData, isBinary: boolean) => {
      if (connection.gone.aborted || !Buffer.isBuffer(data)) return
      heard(connection)
      conversation.hear(data, isBinary)
    })
    void connection.closed.then((code) => {
      this.#connections.delete(connection)
      const seconds = Math.round((clock.nowMs() - startedMs) / 1000)
      facts.log.info(`socket closed with ${code}`, { client: facts.clientAddress, seconds })
    })
    try {
      // Once more: whatever ended the session before this socket could be found by it was missed.
      const again = this.#requireOpen(signIn)
      connection.renew(
        again.then(({ caller }) => caller),
        () => undefined, // it is told below
      )
      connection.expireAt((await again).expiresAt)
      await connection.renewal
      await opened(connection)
    } catch (error) {
      this.#fail(connection, error)
    }
    connection.read()
  }

  async #requireOpen(signIn: () => Promise<SignedIn>): Promise<SignedIn> {
    const signedIn = await signIn()
    if (this.#ending) throw new SocketRefused(this.#ending.code, this.#ending.reason)
    return signedIn
  }

  #fail(connection: Connection, error: unknown): void {
    const { code, message } = this.#refusalOf(error)
    connection.close(code, message)
  }

  #refusalOf(error: unknown): SocketRefused {
    if (error instanceof SocketRefused) return error
    this.#parts.log.error('a socket could not be opened', { error })
    return new SocketRefused(closeCodes.tryLater, 'The server failed; the reason is in its log')
  }
}
