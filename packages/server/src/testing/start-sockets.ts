import { type Command, clientFrames } from '@svc/protocol/ws/client-frames'
import { closeCodes } from '@svc/protocol/ws/close-codes'
import { Listener } from '../http/listener.ts'
import { FactsFactory } from '../http/request-facts.ts'
import { requestIds } from '../http/request-ids.ts'
import { systemClock } from '../kernel/clock.ts'
import type { BinaryTable, FrameRow, FrameTable } from '../kernel/frame.ts'
import type { Peer } from '../kernel/peer.ts'
import type { Caller } from '../kernel/route.ts'
import { helloFrames } from '../realtime/hello-frames.ts'
import { OpenSockets } from '../realtime/open-sockets.ts'
import { Sockets } from '../realtime/sockets.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'
import { openSocket, type SocketClient, type SocketOptions } from './socket-client.ts'
import { edgeDefaults } from './start-http.ts'

export interface TestAttachment {
  readonly workspaceId: string
}

type Rows = { [C in Command]?: FrameRow<TestAttachment, C> }

export interface SocketsOptions {
  readonly rows?: Rows
  readonly binary?: Partial<BinaryTable<TestAttachment>>
  /** Called at each sign-in check, which goes on when it does. */
  readonly checking?: () => void | Promise<void>
  readonly renew?: (caller: Caller) => Promise<Caller>
}

/**
 * The socket side of the service alone, with rows of the test's choosing; all others do nothing. The token is the name
 * of the person, everybody may do everything, and every socket has the workspace `w` open.
 */
export async function startSockets(parts: SocketsOptions = {}) {
  const clock = new FakeClock()
  const log = new MemoryLog()
  const open = new OpenSockets()
  const nothing: FrameRow<TestAttachment, Command> = { scope: 'connection', lane: 'free', handle: () => undefined }
  const rest = Object.fromEntries(Object.keys(clientFrames).map((command) => [command, nothing]))
  const hello = helloFrames({ identity: () => ({ instance: 'i', version: 'v' }), maxMessageBytes: () => 1 << 24 })
  const frames = { ...rest, ...hello, ...parts.rows } as FrameTable<TestAttachment> // `rest` has every command
  const noBytes = { lane: 'free', handle: () => undefined } as const
  const caller = (userId: string) => ({
    userId,
    email: `${userId}@example.com`,
    sessionId: `session of ${userId}`,
    groupIds: new Set<string>(),
  })
  const peers: Peer[] = []
  const sockets = new Sockets<TestAttachment>({
    open,
    frames,
    binary: { terminalInput: noBytes, execStdin: noBytes, sshAgent: noBytes, ...parts.binary },
    async signIn(token = 'nobody') {
      await parts.checking?.()
      return { caller: caller(token), expiresAt: clock.nowMs() / 1000 + 1e9 }
    },
    renew: parts.renew ?? (async (before) => before),
    opened: (peer) => void peers.push(peer),
    heard: () => undefined,
    attachmentOf: () => ({ workspaceId: 'w' }),
    allows: () => true,
    maxMessageBytes: () => 1 << 24,
    isDebugging: () => false,
    clock,
    log,
  })
  const facts = new FactsFactory(() => edgeDefaults, log)
  const nextId = requestIds()
  const listener = new Listener({
    handler: (_, response) => response.end(),
    upgrade: (upgrade) => sockets.accept({ ...upgrade, facts: facts.of(upgrade.request, nextId()) }),
    clock: systemClock,
    log,
  })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const clients: SocketClient[] = []
  return {
    clock,
    log,
    open,
    sockets,
    listener,
    async socket(name = 'ann', options: SocketOptions = {}): Promise<SocketClient> {
      const client = await openSocket(listener.port ?? 0, name, options)
      clients.push(client)
      return client
    },
    /** A client, and the server's side of it. */
    async pair(name = 'ann', options: SocketOptions = {}): Promise<{ client: SocketClient; peer: Peer }> {
      const before = peers.length
      const client = await this.socket(name, options)
      await client.roundTrip()
      const peer = peers[before]
      if (!peer) throw new Error('the socket was not opened')
      return { client, peer }
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.terminate()
      await sockets.closeAll(closeCodes.restart, 'the test is over')
      await listener.close(0)
    },
  }
}
