import type { Command } from '@svc/protocol/ws/client-frames'
import { expect, test } from 'vitest'
import type { FrameRow, Lane } from '../kernel/frame.ts'
import { startSockets, type TestAttachment } from '../testing/start-sockets.ts'

/** Rows that note when they begin, and end when the test lets them. */
function heldRows(lanes: Partial<Record<Command, Lane>>) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const row = (command: string, lane: Lane): FrameRow<TestAttachment, Command> => ({
    scope: 'workspace',
    lane,
    needs: 'nothing',
    handle() {
      begun.push(command)
      if (lane === 'free') return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(command, resolve)
      return promise
    },
  })
  const rows = Object.fromEntries(Object.entries(lanes).map(([command, lane]) => [command, row(command, lane)]))
  return { rows, begun, end: (command: Command) => ends.get(command)?.() }
}

const usual = {
  heartbeat: 'free',
  terminal_ack: 'free',
  workspace_connect: 'workspace',
  restart_container: 'workspace',
  terminal_start: 'terminal',
  terminal_stop: 'terminal',
  exec_start: 'exec',
  ssh_agent_start: 'ssh',
} as const

const start = { cmd: 'terminal_start' }
const connect = { cmd: 'workspace_connect', workspaceId: 'w' }

test('a heartbeat and an acknowledgement are dealt with while a start is under way; a terminal waits for it', async () => {
  const { rows, begun, end } = heldRows(usual)
  await using server = await startSockets({ rows })
  const socket = await server.socket('ann', { caps: ['req'] })
  socket.send(connect)
  socket.send(start)
  socket.send({ cmd: 'heartbeat', req: 'h' })
  socket.send({ cmd: 'terminal_ack', channel: 1, offset: 0, req: 't' })
  expect(await socket.next('ack')).toMatchObject({ req: 'h' })
  expect(await socket.next('ack')).toMatchObject({ req: 't' })
  expect(begun).toEqual(['workspace_connect', 'heartbeat', 'terminal_ack'])
  end('workspace_connect')
  await expect.poll(() => begun).toEqual(['workspace_connect', 'heartbeat', 'terminal_ack', 'terminal_start'])
})

test('lanes do not wait for each other, and within one the order is kept', async () => {
  const { rows, begun, end } = heldRows(usual)
  await using server = await startSockets({ rows })
  const socket = await server.socket()
  socket.send(start)
  socket.send({ cmd: 'terminal_stop' })
  socket.send({ cmd: 'exec_start', command: ['true'] })
  socket.send({ cmd: 'ssh_agent_start' })
  await socket.roundTrip()
  expect(begun).toEqual(['terminal_start', 'exec_start', 'ssh_agent_start'])
  end('exec_start')
  await socket.roundTrip()
  expect(begun).toHaveLength(3)
  end('terminal_start')
  await expect.poll(() => begun.at(-1)).toBe('terminal_stop')
})

test('what changes the workspace waits for all that came before it', async () => {
  const { rows, begun, end } = heldRows(usual)
  await using server = await startSockets({ rows })
  const socket = await server.socket()
  socket.send(start)
  socket.send({ cmd: 'exec_start', command: ['true'] })
  socket.send(connect)
  socket.send({ cmd: 'restart_container' })
  socket.send({ cmd: 'ssh_agent_start' })
  await socket.roundTrip()
  expect(begun).toEqual(['terminal_start', 'exec_start'])
  end('terminal_start')
  await socket.roundTrip()
  expect(begun).toHaveLength(2)
  end('exec_start')
  await expect.poll(() => begun.slice(2)).toEqual(['workspace_connect'])
  end('workspace_connect')
  await expect.poll(() => begun.slice(3)).toEqual(['restart_container'])
  end('restart_container')
  await expect.poll(() => begun.slice(4)).toEqual(['ssh_agent_start'])
})

test('a command that fails holds nothing up, and tells nothing of a fault but that it is one', async () => {
  await using server = await startSockets({
    rows: {
      terminal_start: {
        scope: 'connection',
        lane: 'terminal',
        handle: async () => Promise.reject(new Error('the key is 1234')),
      },
      terminal_stop: { scope: 'connection', lane: 'terminal', handle: ({ reply }) => reply({ type: 'host_started' }) },
    },
  })
  const socket = await server.socket('ann', { caps: ['req'] })
  socket.send({ ...start, req: 'a' })
  socket.send({ cmd: 'terminal_stop', req: 'b' })
  expect(await socket.next('error')).toEqual({
    type: 'error',
    code: 'internal',
    message: 'The server failed; the reason is in its log',
    cmd: 'terminal_start',
    req: 'a',
  })
  expect(await socket.next('host_started')).toMatchObject({ req: 'b' })
  const logged = server.log.records.find(({ level }) => level === 'ERROR')
  expect(logged?.message).toBe('terminal_start failed')
  expect(logged?.fields.error).toEqual(new Error('the key is 1234'))
})

test('what waits for its turn is dropped when the socket goes', async () => {
  const { rows, begun, end } = heldRows(usual)
  await using server = await startSockets({ rows })
  const { client, peer } = await server.pair()
  client.send(connect)
  client.send(start)
  await client.roundTrip()
  await client.close()
  await expect.poll(() => peer.gone.aborted).toBe(true)
  end('workspace_connect')
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toEqual(['workspace_connect'])
})
