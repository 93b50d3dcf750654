import { once } from 'node:events'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { sshAgentSocket } from '@svc/protocol/agent/requests'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { TestAgent } from '../testing/test-agent.ts'
import type { TestCall, TestLink } from '../testing/test-link.ts'
import { uniqueId } from '../unique-id.ts'

let agent: TestAgent
let link: TestLink
/** A member of their own for each test. */
let userId: string
let path: string

beforeAll(async () => {
  ;({ agent, link } = await TestAgent.ready())
})
afterAll(() => agent[Symbol.asyncDispose]())
beforeEach(() => {
  userId = uniqueId()
  path = sshAgentSocket(userId)
  return () => rmSync(path, { recursive: true, force: true })
})

async function listen(of: TestLink = link, member = userId): Promise<TestCall> {
  const call = of.call({ op: 'ssh_agent.listen', user_id: member })
  onTestFinished(() => call.channel.close())
  await expect.poll(() => call.message('listening')).toEqual({ type: 'listening', path: sshAgentSocket(member) })
  return call
}

/** A program in the workspace. `ended` resolves when it hears that there is no more. */
async function program(): Promise<{ socket: Socket; ended: Promise<unknown> }> {
  const socket = connect({ path, allowHalfOpen: true })
  socket.on('error', () => {})
  const ended = new Promise((resolve) => socket.once('end', resolve))
  onTestFinished(() => {
    socket.destroy()
  })
  await once(socket, 'connect')
  return { socket, ended }
}

const connections = (call: TestCall): number[] =>
  call.messages.flatMap((message) => (message.type === 'connected' ? [message.connection] : []))

/** Takes the newest connection. */
async function accept(listening: TestCall, nth = 0): Promise<TestCall> {
  await expect.poll(() => connections(listening).length).toBeGreaterThan(nth)
  return link.call({ op: 'ssh_agent.accept', user_id: userId, connection: connections(listening)[nth] ?? 0 })
}

async function join(listening: TestCall, nth = 0) {
  const { socket, ended } = await program()
  return { socket, ended, call: await accept(listening, nth) }
}

const isThere = (file: string) => lstatSync(file, { throwIfNoEntry: false }) !== undefined

/** Not as an iterator: that would end the other direction too. */
async function readAll({ socket, ended }: { socket: Socket; ended: Promise<unknown> }): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await ended
  return Buffer.concat(chunks).toString()
}

describe('listening', () => {
  test('the socket is for the user of the workspace alone, and gone when the channel is', async () => {
    const call = await listen()
    const found = lstatSync(path)
    expect([found.isSocket(), found.mode & 0o777, found.uid]).toEqual([true, 0o600, process.getuid?.()])
    call.channel.close()
    await expect.poll(() => isThere(path)).toBe(false)
  })

  test('each member has a socket of their own', async () => {
    const other = uniqueId()
    await listen()
    await listen(link, other)
    expect(isThere(sshAgentSocket(other))).toBe(true)
    expect(sshAgentSocket(other)).not.toBe(path)
  })

  test.each(['../x', 'a/b', '', 'x'.repeat(65), 'a b', 'ü'])('%j is no member', async (wrong) => {
    const call = link.call({ op: 'ssh_agent.listen', user_id: wrong })
    expect(await call.closed).toMatchObject({ code: 'bad_request' })
  })

  test('a socket that another agent left behind is replaced', async () => {
    {
      await using dead = await TestAgent.start()
      const there = await dead.connect()
      await there.ask({ op: 'setup', sudo: false, service_command: null, token: null, env: {} })
      await listen(there)
      const exited = once(dead.process, 'exit')
      dead.process.kill('SIGKILL')
      await exited
    }
    expect(isThere(path)).toBe(true)
    const listening = await listen()
    const { call } = await join(listening)
    call.channel.close()
  })

  test('a link in the place is replaced and not followed', async () => {
    const target = `${agent.folder}/precious`
    writeFileSync(target, 'kept')
    symlinkSync(target, path)
    await listen()
    expect(lstatSync(path).isSocket()).toBe(true)
    expect([readFileSync(target, 'utf8'), lstatSync(target).isFile()]).toEqual(['kept', true])
  })

  test('an empty directory in the place is replaced, and a full one is left alone', async () => {
    mkdirSync(path)
    const first = await listen()
    first.channel.close()
    await expect.poll(() => isThere(path)).toBe(false)
    mkdirSync(`${path}/mine`, { recursive: true })
    const call = link.call({ op: 'ssh_agent.listen', user_id: userId })
    expect(await call.closed).toEqual({ code: 'exists', message: `There is something in ${path} already` })
    expect(isThere(`${path}/mine`)).toBe(true)
  })

  test('what somebody put in the place of the socket later is not removed with it', async () => {
    const call = await listen()
    rmSync(path)
    writeFileSync(path, 'mine')
    call.channel.close()
    await link.ask({ op: 'ping' })
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })

  test('a second listener takes over: the first ends with all of its connections', async () => {
    const first = await listen()
    const { ended, call } = await join(first)
    const second = await listen()
    expect(await first.closed).toMatchObject({ code: 'exists' })
    expect(await call.closed).toBeUndefined()
    await ended
    const { socket: later, call: taken } = await join(second)
    later.end('to the second')
    await expect.poll(() => taken.text).toBe('to the second')
  })

  test('of many listeners at once one is left, and it works', async () => {
    const calls = Array.from({ length: 20 }, () => link.call({ op: 'ssh_agent.listen', user_id: userId }))
    onTestFinished(() => {
      for (const call of calls) call.channel.close()
    })
    await expect.poll(() => calls.filter(({ channel }) => channel.isClosed).length).toBe(19)
    const left = calls.find(({ channel }) => !channel.isClosed)
    if (!left) throw new Error('none is left')
    const { call } = await join(left)
    call.channel.close()
  })

  test('a lost connection to the server ends the listener and its connections', async () => {
    const lost = await agent.connect()
    await listen(lost)
    const { ended } = await program()
    lost.close()
    await ended
    await expect.poll(() => isThere(path)).toBe(false)
  })
})

describe('a connection', () => {
  test('carries bytes both ways, and each end is told by itself', async () => {
    const { socket, ended, call } = await join(await listen())
    socket.end('question')
    await expect.poll(() => [call.text, call.hasEnded]).toEqual(['question', true])
    await call.channel.write(Buffer.from('answer'))
    call.channel.end()
    expect(await readAll({ socket, ended })).toBe('answer')
    expect(await call.closed).toBeUndefined()
  })

  test('the server may end first, and still hears the program', async () => {
    const { socket, ended, call } = await join(await listen())
    call.channel.end()
    expect(await readAll({ socket, ended })).toBe('')
    socket.end('still here')
    expect(await call.closed).toBeUndefined()
    expect(call.text).toBe('still here')
  })

  test('a program that wrote before it was taken is heard from its first byte', async () => {
    const listening = await listen()
    const { socket } = await program()
    socket.write('early')
    const call = await accept(listening)
    await expect.poll(() => call.text).toBe('early')
  })

  test('a program that ended before it was taken is heard to its end', async () => {
    const listening = await listen()
    const { socket } = await program()
    socket.end()
    await once(socket, 'finish')
    await link.ask({ op: 'ping' })
    const call = await accept(listening)
    await expect.poll(() => call.hasEnded).toBe(true)
  })

  test('what was written to the program arrives although the channel is closed right after it', async () => {
    const { socket, ended, call } = await join(await listen())
    socket.pause()
    // Until neither the kernel nor the agent takes more.
    let sent = 0
    for (let isTaken = true; isTaken; ) {
      isTaken = false
      void call.channel.write(Buffer.alloc(32 * 1024, 'a')).then(() => {
        isTaken = true
      })
      for (let turn = 0; turn < 5; turn++) await link.ask({ op: 'ping' })
      if (isTaken) sent += 32 * 1024
    }
    call.channel.close()
    await link.ask({ op: 'ping' })
    const received = readAll({ socket, ended })
    socket.resume()
    expect((await received).length).toBeGreaterThanOrEqual(sent)
  })

  test('who does not read holds up the other side, and nothing is lost', async () => {
    const { socket, ended, call } = await join(await listen())
    const total = 8 * 1024 * 1024
    call.isSlow = true
    let isWritten = false
    socket.write(Buffer.alloc(total, 'q'), () => {
      isWritten = true
    })
    const sent = call.channel.write(Buffer.alloc(total, 'a'))
    await expect.poll(() => call.bytes.length).toBe(256 * 1024)
    // Turns enough for the agent to read all of it, if it did.
    for (let turn = 0; turn < 300; turn++) await link.ask({ op: 'ping' })
    expect([call.bytes.length, isWritten]).toEqual([256 * 1024, false])
    call.hurry()
    const answers = readAll({ socket, ended })
    socket.end()
    await sent
    call.channel.end()
    expect((await answers).length).toBe(total)
    expect(await call.closed).toBeUndefined()
    expect(call.bytes.length).toBe(total)
  })

  test('is taken once, and only by its number', async () => {
    const listening = await listen()
    const { call } = await join(listening)
    const again = await accept(listening)
    expect(await again.closed).toMatchObject({ code: 'not_found' })
    const none = link.call({ op: 'ssh_agent.accept', user_id: userId, connection: 999_999 })
    expect(await none.closed).toMatchObject({ code: 'not_found' })
    const foreign = link.call({ op: 'ssh_agent.accept', user_id: uniqueId(), connection: 1 })
    expect(await foreign.closed).toMatchObject({ code: 'not_found' })
    expect(call.channel.isClosed).toBe(false)
  })

  test('is ended when nobody takes it for ten seconds', { timeout: 20_000 }, async () => {
    const listening = await listen()
    const { call } = await join(listening)
    const untaken = await program()
    const since = performance.now()
    await untaken.ended
    expect(performance.now() - since).toBeGreaterThan(9000)
    expect(call.channel.isClosed).toBe(false)
    expect(await (await accept(listening, 1)).closed).toMatchObject({ code: 'not_found' })
  })

  test('sixty-four at once are served, more are ended, and room comes back', async () => {
    const listening = await listen()
    const calls: TestCall[] = []
    for (let n = 0; n < 64; n++) calls.push((await join(listening, n)).call)
    const refused = await program()
    await refused.ended
    expect(connections(listening)).toHaveLength(64)
    calls[0]?.channel.close()
    await expect
      .poll(async () => {
        await program()
        await link.ask({ op: 'ping' })
        return connections(listening).length
      })
      .toBe(65)
  })
})

test('nothing is left in the agent or in the directory of the sockets', async () => {
  await expect.poll(() => readdirSync('/tmp').filter((name) => name.startsWith('.svc-'))).toEqual([])
  expect(agent.errors).toBe('')
})
