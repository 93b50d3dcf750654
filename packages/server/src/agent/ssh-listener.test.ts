import type { Channel } from '@svc/protocol/agent/channels'
import { INITIAL_CREDIT } from '@svc/protocol/agent/frames'
import { sshAgentSocket } from '@svc/protocol/agent/requests'
import { expect, test } from 'vitest'
import { connectPeer } from '../testing/agent-peer.ts'
import { startAgent } from '../testing/start-agent.ts'
import type { AgentClient } from './agent-client.ts'
import { AgentError, AgentLost } from './agent-error.ts'
import type { SshConnection } from './ssh-connection.ts'

const listening = { type: 'listening', path: sshAgentSocket('ann') }
const isListen = (request: unknown) => Reflect.get(Object(request), 'op') === 'ssh_agent.listen'

/** Takes every connection, and keeps what it was told. */
function listen(agent: AgentClient) {
  const connections: SshConnection[] = []
  const ended: Error[] = []
  const listener = agent.ssh.listen('ann', {
    connected: (accept) => connections.push(accept()),
    ended: (why) => ended.push(why),
  })
  return { listener, connections, ended }
}

test('a program that connects is heard and answered, and each direction ends by itself', async () => {
  const heard: string[] = []
  const { agent, peer } = await connectPeer((channel, request) => {
    if (isListen(request)) {
      channel.message(listening)
      channel.message({ type: 'connected', connection: 7 })
      return
    }
    channel.handlers = {
      data: (bytes) => heard.push(Buffer.from(bytes).toString()),
      closed: () => heard.push('closed'),
    }
    void channel.write(Buffer.from('question'))
    channel.end()
  })
  const { listener, connections } = listen(agent)
  expect(await listener.listening).toBe(sshAgentSocket('ann'))
  await expect.poll(() => connections.length).toBe(1)
  const [connection] = connections
  expect(Buffer.concat((await connection?.requests.toArray()) ?? []).toString()).toBe('question')
  expect(connection?.isOver).toBe(false)
  await connection?.write(Buffer.from('answer'))
  connection?.close()
  await expect.poll(() => heard).toEqual(['answer', 'closed'])
  expect(peer.requests).toEqual([
    { op: 'ssh_agent.listen', user_id: 'ann' },
    { op: 'ssh_agent.accept', user_id: 'ann', connection: 7 },
  ])
  listener.close()
  expect(agent.callCount).toBe(0)
})

test.each([
  ['another path', [{ type: 'listening', path: '/etc/passwd' }]],
  ['a connection before it listens', [{ type: 'connected', connection: 1 }]],
  ['something else', [{ type: 'written', size: 1 }]],
  ['nothing of ours', [{ type: 'nonsense' }]],
])('an agent that answers with %s has failed', async (_, messages) => {
  const { agent } = await connectPeer((channel) => {
    for (const message of messages) channel.message(message)
  })
  const { listener, ended } = listen(agent)
  await expect(listener.listening).rejects.toThrow(AgentError)
  expect([agent.callCount, ended]).toEqual([0, []])
})

test.each([
  ['that it listens, again', (channel: Channel) => channel.message(listening)],
  ['of a connection without a number', (channel: Channel) => channel.message({ type: 'connected', connection: -1 })],
  ['bytes', (channel: Channel) => void channel.write(Buffer.from('x'))],
  ['that it is done', (channel: Channel) => channel.close()],
  ['that another listens', (channel: Channel) => channel.close({ code: 'exists', message: 'Taken' })],
])('a listener ends, with all of its connections, when the agent tells %s', async (_, tell) => {
  const { agent } = await connectPeer((channel, request) => {
    if (!isListen(request)) return tell(listens)
    listens = channel
    channel.message(listening)
    channel.message({ type: 'connected', connection: 1 })
  })
  let listens: Channel
  const { connections, ended } = listen(agent)
  await expect.poll(() => ended).toEqual([expect.any(AgentError)])
  expect(connections.map(({ isOver }) => isOver)).toEqual([true])
  await expect(connections[0]?.requests.toArray()).rejects.toThrow()
  expect(agent.callCount).toBe(0)
})

test('a connection that the agent refuses, or on which it talks, is over, and the listener lives on', async () => {
  const { agent } = await connectPeer((channel, request) => {
    if (isListen(request)) {
      channel.message(listening)
      channel.message({ type: 'connected', connection: 1 })
      channel.message({ type: 'connected', connection: 2 })
    } else if (Reflect.get(Object(request), 'connection') === 1) {
      channel.close({ code: 'not_found', message: 'Gone' })
    } else {
      channel.message(listening)
    }
  })
  const { connections, ended } = listen(agent)
  await expect.poll(() => connections.map(({ isOver }) => isOver)).toEqual([true, true])
  await connections[0]?.write(Buffer.alloc(10))
  expect([agent.callCount, ended]).toEqual([1, []])
})

test('an agent that never reads holds up one connection only, and closing it lets go', async () => {
  const { agent } = await connectPeer((channel, request) => {
    if (isListen(request)) {
      channel.message(listening)
      channel.message({ type: 'connected', connection: 1 })
    } else if (Reflect.get(Object(request), 'op') === 'ping') channel.close()
    else channel.handlers = { data: () => {} }
  })
  const { connections } = listen(agent)
  await expect.poll(() => connections.length).toBe(1)
  let isWritten = false
  const written = connections[0]?.write(Buffer.alloc(2 * INITIAL_CREDIT)).then(() => {
    isWritten = true
  })
  await agent.ping()
  expect(isWritten).toBe(false)
  connections[0]?.close()
  await written
  expect(isWritten).toBe(true)
})

test('requests that nobody reads are held within the credit', async () => {
  let sent = 0
  const { agent } = await connectPeer((channel, request) => {
    if (isListen(request)) {
      channel.message(listening)
      channel.message({ type: 'connected', connection: 1 })
      return
    }
    for (let n = 0; n < 100; n++) void channel.write(Buffer.alloc(INITIAL_CREDIT / 10)).then(() => sent++)
  })
  const { connections } = listen(agent)
  await expect.poll(() => connections[0] && sent).toBe(10)
  connections[0]?.close()
  expect(agent.callCount).toBe(1)
})

test('a lost agent ends everything', async () => {
  const { agent, peer } = await connectPeer((channel, request) => {
    if (!isListen(request)) return
    channel.message(listening)
    channel.message({ type: 'connected', connection: 1 })
  })
  const { connections, ended } = listen(agent)
  await expect.poll(() => connections.length).toBe(1)
  peer.socket.destroy()
  await expect.poll(() => ended).toEqual([expect.any(AgentLost)])
  expect(connections[0]?.isOver).toBe(true)
})

test('the real agent: a second listener of the same member ends the first', async () => {
  const { agent } = await startAgent()
  const first = listen(agent)
  await first.listener.listening
  const second = listen(agent)
  await second.listener.listening
  expect(first.ended).toMatchObject([{ name: 'AgentError', code: 'exists' }])
  second.listener.close()
  await agent.ping()
  expect(agent.callCount).toBe(0)
})
