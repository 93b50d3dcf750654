import { type Channel, type ChannelHandlers, Channels } from '@svc/protocol/agent/channels'

/** A channel from end to end, without a socket: the end of the agent, and that of the server with `handlers`. */
export function joinedChannel(handlers: ChannelHandlers): { ofAgent: Promise<Channel>; ofServer: Channel } {
  const opened = Promise.withResolvers<Channel>()
  const carryTo = (other: () => Channels) => (bytes: Uint8Array) => {
    queueMicrotask(() => other().receive(bytes))
    return true
  }
  const agent = new Channels({ side: 'agent', send: carryTo(() => server), opened: opened.resolve })
  const server: Channels = new Channels({ side: 'server', send: carryTo(() => agent) })
  return { ofServer: server.open({}, handlers), ofAgent: opened.promise }
}
