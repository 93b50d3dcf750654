import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Channel, Channels } from '@svc/protocol/agent/channels'
import { AGENT_PROTOCOL } from '@svc/protocol/agent/requests'
import { onTestFinished } from 'vitest'
import { AgentClient } from '../agent/agent-client.ts'
import { scratchFolder } from './start-daemon.ts'

export const HELLO = { type: 'hello', protocol: AGENT_PROTOCOL, boot_id: 'boot-1', ready: false }

/** The two ends of a connection through the operating system. Both are gone after the test. */
export async function socketPair(): Promise<{ ours: Socket; theirs: Socket }> {
  const server = createServer()
  server.listen(join(await scratchFolder(), 'socket'))
  await once(server, 'listening')
  const ours = connect({ path: String(server.address()) })
  const [theirs]: Socket[] = await once(server, 'connection')
  server.close()
  if (!theirs) throw new Error('nobody connected')
  for (const socket of [ours, theirs]) socket.on('error', () => {})
  onTestFinished(() => {
    ours.destroy()
    theirs.destroy()
  })
  return { ours, theirs }
}

/** Whatever a test wants an agent to be. It says nothing of its own. */
export class AgentPeer {
  readonly socket: Socket
  readonly channels: Channels
  readonly requests: unknown[] = []

  constructor(socket: Socket, opened: (channel: Channel, request: unknown) => void) {
    this.socket = socket
    this.channels = new Channels({
      side: 'agent',
      send: (bytes) => socket.write(bytes),
      opened: (channel, request) => {
        this.requests.push(request)
        opened(channel, request)
      },
    })
    socket.on('data', (chunk) => this.channels.receive(chunk))
    socket.on('drain', () => this.channels.drained())
    socket.on('close', () => this.channels.lose({ code: 'failed', message: 'lost' }))
  }
}

/** A client that is connected to an agent which answers every request as `opened` does. */
export async function connectPeer(
  opened: (channel: Channel, request: unknown) => void,
): Promise<{ agent: AgentClient; peer: AgentPeer }> {
  const { ours, theirs } = await socketPair()
  const peer = new AgentPeer(theirs, opened)
  peer.channels.announce(HELLO)
  const agent = await AgentClient.connect(ours, { signal: AbortSignal.timeout(10_000) })
  onTestFinished(() => agent.close())
  return { agent, peer }
}
