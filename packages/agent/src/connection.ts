import type { Socket } from 'node:net'
import { type Channel, Channels } from '@svc/protocol/agent/channels'
import { BrokenFrame } from '@svc/protocol/agent/frames'
import { SpareMemory } from '@svc/protocol/spare-memory'
import { reportFault } from './report-fault.ts'

/** What may wait for a server that does not read. Byte streams are held back far below; this is for answers alone. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024

export interface ConnectionParts {
  readonly socket: Socket
  /** The first thing the server hears. */
  readonly hello: object
  /** Must set the channel's handlers before it returns, or close it. */
  opened(channel: Channel, request: unknown): void
}

/** Serves one connection of a server until it ends. Whatever ends it, every channel of it is closed. */
export function serveConnection({ socket, hello, opened }: ConnectionParts): void {
  const memory = new SpareMemory(1)
  const channels = new Channels({
    side: 'agent',
    room: (size) => memory.lend(size),
    send: (bytes) => {
      if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy()
      const wantsMore = socket.write(bytes)
      // The system has taken it all.
      if (socket.writableLength === 0) memory.giveBack(bytes)
      return wantsMore
    },
    opened,
    failed: reportFault,
  })
  socket.on('drain', () => channels.drained())
  socket.on('data', (chunk) => {
    try {
      channels.receive(chunk)
    } catch (error) {
      // Nothing that comes after can be understood. Everything else is a fault of ours, and must be seen.
      if (!(error instanceof BrokenFrame)) reportFault(error)
      socket.destroy()
    }
  })
  // `close` follows, and is where a lost connection is dealt with.
  socket.on('error', () => {})
  socket.on('close', () => channels.lose({ code: 'failed', message: 'The connection to the workspace was lost' }))
  channels.announce(hello)
}
