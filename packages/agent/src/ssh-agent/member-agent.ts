import { createServer, type Server, type Socket } from 'node:net'
import { ForwardedConnection } from './forwarded-connection.ts'
import { PrivateSocket } from './private-socket.ts'

/** Connections of one member at once. Programs need one each, for a moment. */
const MAX_CONNECTIONS = 64
/** A program waits no longer than this for somebody to take its connection. */
const UNTAKEN_MS = 10_000

export interface MemberAgentParts {
  readonly path: string
  /** Tells of a program that has connected. */
  connected(connection: number): void
  /** Numbers connections. None is used twice, so nobody takes one that belongs to a later listener. */
  nextNumber(): number
}

/** The ssh agent of one member, as programs in the workspace find it. */
export class MemberAgent {
  readonly #parts: MemberAgentParts
  readonly #server: Server
  readonly #all = new Set<ForwardedConnection>()
  readonly #untaken = new Map<number, { connection: ForwardedConnection; giveUp: NodeJS.Timeout }>()
  #socket: PrivateSocket | undefined
  #isClosed = false

  constructor(parts: MemberAgentParts) {
    this.#parts = parts
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#connect(socket))
  }

  /** Resolves when programs can connect. */
  async listen(): Promise<void> {
    this.#socket = await PrivateSocket.bind(this.#server, this.#parts.path)
    // A connection that could not be taken, for want of files for one. The next may go well.
    this.#server.on('error', () => {})
    if (this.#isClosed) this.#socket.remove()
  }

  /** Undefined for a connection that has gone, or was taken before. */
  take(number: number): ForwardedConnection | undefined {
    const untaken = this.#untaken.get(number)
    clearTimeout(untaken?.giveUp)
    this.#untaken.delete(number)
    return untaken?.connection
  }

  /** Ends every connection too. */
  close(): void {
    this.#isClosed = true
    this.#socket?.remove()
    this.#server.close()
    for (const connection of this.#all) connection.end()
  }

  #connect(socket: Socket): void {
    if (this.#isClosed || this.#all.size >= MAX_CONNECTIONS) {
      socket.destroy()
      return
    }
    const number = this.#parts.nextNumber()
    const connection = new ForwardedConnection(socket)
    this.#all.add(connection)
    this.#untaken.set(number, { connection, giveUp: setTimeout(() => this.take(number)?.end(), UNTAKEN_MS) })
    connection.whenClosed(() => {
      this.#all.delete(connection)
      this.take(number)
    })
    this.#parts.connected(number)
  }
}
