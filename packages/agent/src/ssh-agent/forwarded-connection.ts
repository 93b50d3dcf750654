import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Channel } from '@svc/protocol/agent/channels'

/** A connection that is over keeps what the program has not read for so long. */
const LINGER_MS = 10_000

/** One program in the workspace that talks to somebody's ssh agent. Nothing is read of it until it is joined. */
export class ForwardedConnection {
  readonly #socket: Socket

  /** A socket that is paused and half-open on its own. */
  constructor(socket: Socket) {
    this.#socket = socket
    // `close` follows, and is all there is to do.
    socket.on('error', () => {})
  }

  whenClosed(tell: () => void): void {
    this.#socket.once('close', tell)
  }

  /** Carries its bytes both ways, each at the pace of its reader. Resolves when it is over. */
  async join(channel: Channel): Promise<void> {
    const socket = this.#socket
    channel.handlers = {
      data: (bytes) => socket.write(bytes, () => channel.consumed(bytes.length)),
      ended: () => socket.end(),
      closed: () => this.#finish(),
    }
    if (socket.destroyed) return
    socket.on('data', (chunk) => {
      socket.pause()
      void channel.write(chunk).then(() => socket.resume())
    })
    socket.on('end', () => channel.end())
    socket.resume()
    await once(socket, 'close')
  }

  end(): void {
    this.#socket.destroy()
  }

  /** The program still gets what was written to it. */
  #finish(): void {
    const socket = this.#socket
    const giveUp = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(giveUp))
    socket.destroySoon()
  }
}
