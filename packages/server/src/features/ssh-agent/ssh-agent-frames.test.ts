import { getEventListeners } from 'node:events'
import { text } from 'node:stream/consumers'
import { sshAgentSocket } from '@svc/protocol/agent/requests'
import type { Permission } from '@svc/protocol/permissions'
import type { Capability } from '@svc/protocol/ws/capabilities'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { allowOnly, connect, makeWorkspace, openLocalEngine, story } from '../../testing/live-workspace.ts'
import type { SocketClient } from '../../testing/socket-client.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'
import { WorkspaceProgram } from '../../testing/workspace-program.ts'

let server: AccountsServer
let ann: Person
let bob: Person
let id: string

beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  bob = await server.person('bob')
  id = await makeWorkspace(ann)
})
afterAll(() => server[Symbol.asyncDispose]())

const agent = (workspaceId = id) => server.app.lifecycle.requireRunning(workspaceId).agent

async function opened(caps: readonly Capability[], { person = ann, workspaceId = id } = {}): Promise<SocketClient> {
  const socket = await server.socket(person.token, { caps })
  onTestFinished(() => socket.close())
  await connect(socket, workspaceId)
  return socket
}

async function forward(caps: readonly Capability[], options: { person?: Person; workspaceId?: string } = {}) {
  const socket = await opened(caps, options)
  socket.send({ cmd: 'ssh_agent_start' })
  await socket.next('ssh_agent_started')
  return socket
}

const program = (options?: { reads?: boolean }) => WorkspaceProgram.start(agent(), ann.id, options)

/** A message of the agent protocol that says this. */
function message(content: string | number): Buffer {
  const body = typeof content === 'number' ? Buffer.alloc(content, 'x') : Buffer.from(content)
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  return Buffer.concat([head, body])
}
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const answer = (socket: SocketClient, bytes: Uint8Array, conn?: number) =>
  socket.send({ cmd: 'ssh_agent_data', data: base64(bytes), ...(conn === undefined ? {} : { conn }) })
/** Everything that programs asked of this client so far. */
const asked = ({ frames }: SocketClient, conn?: number): Buffer =>
  Buffer.concat(
    frames.flatMap((frame) =>
      frame.type === 'ssh_agent_response' && frame.conn === conn ? [Buffer.from(frame.data, 'base64')] : [],
    ),
  )
const errors = (socket: SocketClient) => story(socket).filter((what) => what.startsWith('error'))
const isGone = async (person = ann) => {
  const exec = agent().exec({
    argv: ['ls', sshAgentSocket(person.id)],
    login: false,
    cwd: '/',
    env: {},
  })
  exec.stdin.end()
  return (await text(exec.stdout)) === ''
}

describe('who may', () => {
  const cases: [string, Permission[], boolean][] = [
    ['only join', ['join-workspace'], false],
    ['code in isolation', ['join-workspace', 'code-in-isolation'], true],
    ['exec and sync', ['join-workspace', 'exec-and-sync'], true],
  ]
  test.each(cases)('a member who may %s', async (_, permissions, isAllowed) => {
    await allowOnly(ann, id, [[bob, permissions]])
    const socket = await opened(['ssh2'], { person: bob })
    socket.send({ cmd: 'ssh_agent_start' })
    if (isAllowed) await socket.next('ssh_agent_started')
    else
      expect(await socket.next('error')).toEqual({
        type: 'error',
        message: 'Permission denied',
        cmd: 'ssh_agent_start',
      })
  })

  test('who loses one of both rights goes on, and who loses the last is stopped at once', async () => {
    await allowOnly(ann, id, [[bob, ['join-workspace', 'code-in-isolation', 'exec-and-sync']]])
    const socket = await forward(['ssh2'], { person: bob })
    await allowOnly(ann, id, [[bob, ['join-workspace', 'exec-and-sync']]])
    const held = await WorkspaceProgram.start(agent(), bob.id)
    await socket.next('ssh_agent_open')
    await allowOnly(ann, id, [[bob, ['join-workspace']]])
    await socket.next('ssh_agent_stopped')
    await held.ended
    await expect.poll(() => isGone(bob)).toBe(true)
  })

  test('who may no longer be in the workspace is stopped', async () => {
    await allowOnly(ann, id, [[bob, ['join-workspace', 'exec-and-sync']]])
    const socket = await forward(['ssh2'], { person: bob })
    await allowOnly(ann, id)
    await socket.next('ssh_agent_stopped')
    await expect.poll(() => isGone(bob)).toBe(true)
  })
})

describe('the end', () => {
  test('a client that leaves the workspace is told, and nothing is left', async () => {
    const socket = await forward(['ssh2'])
    const held = await program()
    socket.send({ cmd: 'workspace_disconnect' })
    await socket.next('ssh_agent_stopped')
    await held.ended
    await expect.poll(() => agent().callCount).toBe(0)
    expect(await isGone()).toBe(true)
  })

  test('the end of the container is told, and the agent can be forwarded into the next one', async () => {
    const workspaceId = await makeWorkspace(ann)
    const socket = await forward(['ssh2'], { workspaceId })
    await succeed(ann.post(`/workspaces/${workspaceId}/stop`))
    await socket.next('ssh_agent_stopped')
    socket.send({ cmd: 'ssh_agent_start' })
    expect(await socket.next('error')).toMatchObject({ code: 'container_gone' })
    await connect(socket, workspaceId)
    socket.send({ cmd: 'ssh_agent_start' })
    await socket.next('ssh_agent_started')
    expect(agent(workspaceId).callCount).toBe(1)
    await succeed(ann.post(`/workspaces/${workspaceId}/stop`))
  })

  test('a stop is answered whether there was something to stop or not', async () => {
    const socket = await forward(['ssh2', 'req'])
    for (const req of ['a', 'b']) {
      socket.send({ cmd: 'ssh_agent_stop', req })
      expect(await socket.next('ssh_agent_stopped')).toEqual({ type: 'ssh_agent_stopped', req })
    }
  })

  test('a program that waits for an answer is let go when the forwarding stops', async () => {
    const socket = await forward([])
    const [one, two] = [await program(), await program()]
    one.write(message('question'))
    await socket.next('ssh_agent_response')
    socket.send({ cmd: 'ssh_agent_stop' })
    await Promise.all([one.ended, two.ended])
    await expect.poll(() => agent().callCount).toBe(0)
  })

  test('a start without a workspace is refused', async () => {
    const socket = await server.socket(ann.token)
    socket.send({ cmd: 'ssh_agent_start' })
    expect(await socket.next('error')).toMatchObject({ code: 'not_connected' })
  })
})

describe('with ssh2', () => {
  test('bytes of any kind go both ways, each connection for itself', async () => {
    const socket = await forward(['ssh2'])
    const one = await program()
    const { conn } = await socket.next('ssh_agent_open')
    const two = await program()
    const { conn: other } = await socket.next('ssh_agent_open')
    const garbage = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 1, 2, 3, 0x80])
    one.write(garbage)
    two.write(Buffer.from('two'))
    await socket.until(() => asked(socket, conn).equals(garbage) && asked(socket, other).toString() === 'two')
    answer(socket, Buffer.from('for two'), other)
    answer(socket, garbage, conn)
    await expect.poll(() => [one.received, two.text]).toEqual([garbage, 'for two'])
  })

  test('a program that has asked its last still gets the answer', async () => {
    const socket = await forward(['ssh2'])
    const one = await program()
    const { conn } = await socket.next('ssh_agent_open')
    one.write(message('last'))
    one.end()
    await socket.next('ssh_agent_close')
    answer(socket, message('late'), conn)
    socket.send({ cmd: 'ssh_agent_close', conn })
    await one.ended
    expect(one.received).toEqual(message('late'))
    await expect.poll(() => agent().callCount).toBe(1)
  })

  test('and is let go after ten seconds when none comes', async () => {
    const socket = await forward(['ssh2'])
    const one = await program()
    one.end()
    await socket.next('ssh_agent_close')
    server.clock.advance(9_999)
    await socket.roundTrip()
    expect(agent().callCount).toBe(3) // the listener, the program and its connection
    server.clock.advance(1)
    await one.ended
    expect(agent().callCount).toBe(1)
  })

  test('a connection that the client closes is closed, after all that was answered, and told once', async () => {
    const socket = await forward(['ssh2'])
    const one = await program()
    const { conn } = await socket.next('ssh_agent_open')
    answer(socket, message(200_000), conn)
    socket.send({ cmd: 'ssh_agent_close', conn })
    socket.send({ cmd: 'ssh_agent_close', conn })
    answer(socket, message('too late'), conn)
    await one.ended
    expect(one.received).toEqual(message(200_000))
    await socket.next('ssh_agent_close')
    await socket.roundTrip()
    expect(story(socket).filter((what) => what === 'ssh_agent_close')).toHaveLength(1)
    expect(errors(socket)).toEqual([expect.stringContaining('no such command')])
  })

  test('a thousand short connections leave nothing behind, though the client never says close', async () => {
    const socket = await forward(['ssh2'])
    const script = `
      const { connect } = require('node:net')
      let left = 1000
      const next = () => {
        if (left-- > 0) connect(process.env.SSH_AUTH_SOCK, leave).on('close', next).on('error', () => {})
      }
      function leave() { this.end('x', () => this.destroy()) }
      for (let n = 0; n < 20; n++) next()`
    const env = { SSH_AUTH_SOCK: sshAgentSocket(ann.id) }
    const exec = agent().exec({ argv: ['/opt/svc/node', '-e', script], login: false, cwd: '/', env })
    exec.stdin.end()
    exec.stdout.resume()
    exec.stderr.resume()
    expect(await exec.exited).toMatchObject({ code: 0 })
    const count = (type: string) => story(socket).filter((what) => what === type).length
    await socket.until(() => count('ssh_agent_open') > 64 && count('ssh_agent_open') === count('ssh_agent_close'))
    server.clock.advance(10_000)
    await expect.poll(() => agent().callCount).toBe(1)
    const opened = count('ssh_agent_open')
    const after = await program()
    await socket.next('ssh_agent_open', ({ conn }) => conn === opened + 1)
    answer(socket, Buffer.from('as ever'), opened + 1)
    await expect.poll(() => after.text).toBe('as ever')
  })

  test.each([
    ['what is no base64', { data: 'a', conn: 1 }, 'invalid'],
    ['base64 of another kind', { data: '-_-_', conn: 1 }, 'invalid'],
    ['more than any agent says at once', { data: base64(Buffer.alloc(256 * 1024 + 5)), conn: 1 }, 'too_large'],
    ['no connection', { data: '' }, 'invalid'],
    ['a connection that never was', { data: '', conn: 2 }, 'invalid'],
    ['a connection below all', { data: '', conn: 0 }, 'invalid'],
    ['a connection beyond all', { data: '', conn: 2 ** 32 }, 'invalid'],
  ])('refused, and nothing else is harmed: %s', async (_, fields, code) => {
    const socket = await forward(['ssh2'])
    const one = await program()
    const { conn } = await socket.next('ssh_agent_open')
    expect(conn).toBe(1)
    socket.send({ cmd: 'ssh_agent_data', ...fields })
    expect(await socket.next('error')).toMatchObject({ code })
    const longest = message(256 * 1024)
    answer(socket, longest, conn)
    await expect.poll(() => one.received.equals(longest)).toBe(true)
  })

  test('bytes as binary messages are bounded as well', async () => {
    const socket = await forward(['ssh2', 'bin'])
    const one = await program()
    const { conn } = await socket.next('ssh_agent_open')
    const send = (payload: Uint8Array, channel = conn) =>
      socket.sendBinary({ kind: 'sshAgent', channel, offset: 0, payload })
    send(Buffer.alloc(256 * 1024 + 5))
    expect(await socket.next('error')).toMatchObject({ code: 'too_large' })
    send(Buffer.alloc(1), 99)
    expect(await socket.next('error')).toMatchObject({ code: 'invalid' })
    one.write(Buffer.alloc(150_000, 'q'))
    await socket.until(() => socket.binary.reduce((sum, { payload }) => sum + payload.length, 0) === 150_000)
    const pieces = socket.binary.map(({ kind, channel, offset, payload }) => [kind, channel, offset, payload.length])
    let at = 0
    for (const [kind, channel, offset, length] of pieces) {
      expect([kind, channel, offset, Number(length) <= 65_536]).toEqual(['sshAgent', conn, at, true])
      at += Number(length)
    }
    send(Buffer.from('answer'))
    await expect.poll(() => one.text).toBe('answer')
  })

  test('answers without a forwarded agent are refused', async () => {
    const socket = await opened(['ssh2'])
    answer(socket, message('x'), 1)
    expect(await socket.next('error')).toMatchObject({ code: 'conflict', cmd: 'ssh_agent_data' })
  })
})

describe('back-pressure', () => {
  test('a client that does not read holds up the program, and gets every byte later', async () => {
    const socket = await forward(['ssh2', 'bin'])
    const one = await program()
    await socket.next('ssh_agent_open')
    socket.pause()
    const total = 16 * 1024 * 1024
    one.write(Buffer.alloc(total, 'q'))
    one.end()
    await agent().ping()
    socket.resume()
    await socket.next('ssh_agent_close')
    expect(socket.binary.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(total)
  })

  test('a program that reads nothing is cut off, and its client is heard again', async () => {
    const socket = await forward(['ssh2'])
    const stuck = await program({ reads: false })
    const { conn } = await socket.next('ssh_agent_open')
    for (let n = 0; n < 20; n++) answer(socket, message(200_000), conn)
    const seen = socket.frames.length
    socket.send({ cmd: 'heard?' })
    // What it takes to fill the agent's credit and the kernel's buffers differs; the rest waits.
    await expect
      .poll(() => {
        server.clock.advance(2_000)
        return socket.frames.slice(seen).some((frame) => frame.type === 'error')
      })
      .toBe(true)
    await socket.next('ssh_agent_close')
    stuck.kill()
    await expect.poll(() => agent().callCount).toBe(1)
  })
})

describe('without ssh2', () => {
  test('programs are served one after the other, and each gets its own answers', async () => {
    const socket = await forward([])
    const [one, two] = [await program(), await program()]
    two.write(message('two'))
    one.write(message('one'))
    await socket.until(() => asked(socket).length > 0)
    one.write(message('one again'))
    await socket.until(() => asked(socket).equals(Buffer.concat([message('one'), message('one again')])))
    answer(socket, Buffer.concat([message('1'), message('1 again')]))
    await expect.poll(() => one.received).toEqual(Buffer.concat([message('1'), message('1 again')]))
    one.end()
    await socket.until(() => asked(socket).includes('two'))
    answer(socket, message('2'))
    await expect.poll(() => two.received).toEqual(message('2'))
    two.end()
    await Promise.all([one.ended, two.ended])
    expect(agent().callCount).toBe(1)
  })

  test('the answer to a program that has gone reaches nobody else', async () => {
    const socket = await forward([])
    const [one, two] = [await program(), await program()]
    one.write(message('one'))
    two.write(message('two'))
    await socket.until(() => asked(socket).equals(message('one')))
    one.kill()
    await one.ended
    await socket.roundTrip()
    expect(asked(socket)).toEqual(message('one'))
    const secret = message('for one alone')
    answer(socket, secret.subarray(0, 6))
    answer(socket, secret.subarray(6))
    await socket.until(() => asked(socket).includes('two'))
    answer(socket, message('for two'))
    await expect.poll(() => two.received).toEqual(message('for two'))
  })

  test('a question that never became whole is not passed on', async () => {
    const socket = await forward([])
    const [one, two] = [await program(), await program()]
    one.write(message('interrupted').subarray(0, 9))
    one.end()
    two.write(message('two'))
    await socket.until(() => asked(socket).length > 0)
    expect(asked(socket)).toEqual(message('two'))
  })

  test.each([
    ['a length beyond measure', Buffer.from('ffffffff00', 'hex')],
    ['one byte more than OpenSSH takes', message(256 * 1024 + 1)],
    ['a length of nothing', Buffer.alloc(4)],
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ])('a program that sends %s is cut off, and the next is served', async (_, bytes) => {
    const socket = await forward([])
    const bad = await program()
    bad.write(bytes)
    await bad.ended
    const good = await program()
    const longest = message(256 * 1024)
    good.write(longest)
    await socket.until(() => asked(socket).equals(longest))
    answer(socket, longest)
    await expect.poll(() => good.received.equals(longest)).toBe(true)
  })

  test.each([
    ['too_large', Buffer.from('ffffffff00', 'hex')],
    ['invalid', Buffer.alloc(4)],
  ])('an answer that is none (%s) ends the forwarding: later ones could not be told apart', async (code, bytes) => {
    const socket = await forward([])
    const one = await program()
    one.write(message('one'))
    await socket.next('ssh_agent_response')
    answer(socket, bytes)
    expect(await socket.next('error')).toMatchObject({ code })
    await socket.next('ssh_agent_stopped')
    await one.ended
    expect(one.text).toBe('')
    await expect.poll(() => agent().callCount).toBe(0)
  })

  test('answers that nobody asked for are dropped', async () => {
    const socket = await forward([])
    answer(socket, message('unasked'))
    await socket.roundTrip()
    const one = await program()
    one.write(message('one'))
    await socket.next('ssh_agent_response')
    answer(socket, message('asked'))
    await expect.poll(() => one.received).toEqual(message('asked'))
  })

  test('who waits for a minute is let go, and who is served may take as long as it likes', async () => {
    const socket = await forward([])
    const [one, two] = [await program(), await program()]
    one.write(message('one'))
    two.write(message('two'))
    await socket.next('ssh_agent_response')
    await expect.poll(() => agent().callCount).toBe(5) // the listener, two programs and their connections
    server.clock.advance(60_000)
    await two.ended
    answer(socket, message('at last'))
    await expect.poll(() => one.received).toEqual(message('at last'))
    expect(two.text).toBe('')
  })

  test('a connection cannot be closed by number', async () => {
    const socket = await forward([])
    socket.send({ cmd: 'ssh_agent_close', conn: 1 })
    expect(await socket.next('error')).toMatchObject({ code: 'invalid' })
  })
})

test('an agent that is forwarded and taken back any number of times leaves nothing behind', async () => {
  const socket = await opened(['ssh2'])
  const [attachment] = server.app.attachments.in(id)
  const listeners = () => (attachment ? getEventListeners(attachment.left, 'abort').length : Number.NaN)
  const before = listeners()
  for (let time = 0; time < 5; time++) {
    socket.send({ cmd: 'ssh_agent_start' })
    await socket.next('ssh_agent_started')
    socket.send({ cmd: 'ssh_agent_stop' })
    await socket.next('ssh_agent_stopped')
  }
  expect(listeners()).toBe(before)
})
