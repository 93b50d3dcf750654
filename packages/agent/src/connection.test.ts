import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { encodeFrame, type FrameKind } from '@svc/protocol/agent/frames'
import { encodeJson } from '@svc/protocol/agent/json-bytes'
import { AGENT_PROTOCOL } from '@svc/protocol/agent/requests'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainSetup, TestAgent } from './testing/test-agent.ts'
import type { TestLink } from './testing/test-link.ts'

describe('a new agent', () => {
  test('says hello on a socket that only its owner can use, and waits for the setup', async () => {
    await using agent = await TestAgent.start()
    expect(statSync(`${agent.folder}/agent.sock`).mode & 0o777).toBe(0o600)
    const link = await agent.connect()
    expect(await link.hello).toMatchObject({ type: 'hello', protocol: AGENT_PROTOCOL, ready: false })
    const listed = await link.call({ op: 'terminal.list' }).closed
    expect(listed).toEqual({ code: 'failed', message: 'The workspace is not set up yet' })
    await link.ask({ op: 'ping' })
  })

  test.skipIf(process.getuid?.() !== 0)('gives its socket to the owner of the directory it is in', async () => {
    await using agent = await TestAgent.start({ owner: 4321 })
    await expect.poll(() => statSync(`${agent.folder}/agent.sock`).uid).toBe(4321)
    expect(statSync(`${agent.folder}/agent.sock`).mode & 0o777).toBe(0o600)
  })

  test('is the same agent for a server that comes back, and is set up once', async () => {
    const { agent, link } = await TestAgent.ready({ setup: { token: 'first', env: { A: '1' } } })
    await using _ = agent
    const { boot_id } = await link.hello
    link.close()
    const again = await agent.connect()
    expect(await again.hello).toMatchObject({ boot_id, ready: true })
    await again.ask({ ...plainSetup, token: 'second', env: { A: '2' } })
    expect(readFileSync(`${agent.folder}/runtime/workspace-token`, 'utf8')).toBe('first')
    const exec = await again.ask({ op: 'exec', argv: ['printenv', 'A'], login: false, cwd: '/', env: {} })
    expect(exec.text).toBe('1\n')
  })

  test('ends at once when it is told to, with all its shells', async () => {
    const { agent, link } = await TestAgent.ready()
    await using _ = agent
    await link.ask({ op: 'terminal.open', id: 't', cols: 80, rows: 24, env: {}, cwd: '/', label: '' })
    const pid = (await link.ask({ op: 'terminal.list' })).message('terminals')?.terminals[0]?.pid ?? 0
    const exited = once(agent.process, 'exit')
    agent.process.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test.each(['SIGHUP', 'SIGPIPE', 'SIGINT', 'SIGUSR1'] as const)('%s does not harm it', async (signal) => {
    await using agent = await TestAgent.start()
    agent.process.kill(signal)
    const link = await agent.connect()
    await link.ask({ op: 'ping' })
    expect(agent.errors).toBe('')
  })
})

describe('whatever a server sends', () => {
  let agent: TestAgent
  let link: TestLink
  beforeAll(async () => {
    ;({ agent, link } = await TestAgent.ready())
    await link.ask({ op: 'terminal.open', id: 'kept', cols: 80, rows: 24, env: {}, cwd: '/', label: '' })
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  /** Sends bytes on a connection of its own, waits until all of them were read, and goes. */
  const sendRaw = async (bytes: Uint8Array) => {
    const socket = connect(`${agent.folder}/agent.sock`)
    socket.on('error', () => {})
    const closed = once(socket, 'close')
    socket.resume()
    socket.end(bytes)
    await closed
  }
  const expectUnharmed = async () => {
    const after = await agent.connect()
    const terminals = (await after.ask({ op: 'terminal.list' })).message('terminals')?.terminals ?? []
    after.close()
    expect(terminals.map(({ id }) => id)).toContain('kept')
    expect(agent.errors).toBe('')
  }

  test('random bytes end at worst their own connection', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        await sendRaw(bytes)
      }),
      { numRuns: 200 },
    )
    await expectUnharmed()
  })

  test('frames that are cut or changed end at worst their own connection', async () => {
    const requests = [
      { op: 'exec', argv: ['cat'], login: false, cwd: '/', env: {} },
      { op: 'terminal.attach', id: 'kept', lossy: false },
      { op: 'files.list', path: '/etc' },
      { op: 'files.write', path: `${agent.folder}/written` },
    ]
    const frame = fc.record({
      kind: fc.constantFrom<FrameKind[]>('open', 'message', 'data', 'errorData', 'end', 'credit', 'close'),
      channel: fc.constantFrom(0, 1, 2, 3, 5, 7, 0xffff_ffff),
      payload: fc.oneof(
        fc.constantFrom(...requests).map(encodeJson),
        fc.uint8Array({ maxLength: 64 }),
        fc.json().map((text) => encodeJson(text)),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 20 }), fc.nat(), fc.nat(255), async (frames, at, byte) => {
        const bytes = Buffer.concat(frames.map((one) => encodeFrame(one)))
        if (bytes.length > 0 && byte < 128) bytes[at % bytes.length] = byte
        await sendRaw(bytes.subarray(0, byte % 3 === 0 ? at % (bytes.length + 1) : bytes.length))
      }),
      { numRuns: 300 },
    )
    await expectUnharmed()
  })

  test('any request is answered', async () => {
    const ops = [
      'setup',
      'ping',
      'terminal.attach',
      'terminal.list',
      'exec',
      'health.check',
      'files.list',
      'files.stat',
    ]
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('/etc', 'kept', '\0', -1, 1e300))
    const names = [
      'id',
      'path',
      'argv',
      'env',
      'cwd',
      'login',
      'lossy',
      'from',
      'cols',
      'rows',
      'command',
      'timeout_ms',
    ]
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.jsonValue(), fc.tuple(fc.constantFrom(...ops), fc.dictionary(fc.constantFrom(...names), value))),
        async (request) => {
          const body =
            Array.isArray(request) && typeof request[0] === 'string' ? withOp(request[0], request[1]) : request
          const call = link.callWith(body)
          const isWatching = () => call.message('attached') !== undefined
          await expect.poll(() => isWatching() || call.channel.isClosed, { interval: 1 }).toBe(true)
          call.channel.close()
        },
      ),
      { numRuns: 300 },
    )
    await expectUnharmed()
  })

  test('a connection that is flooded with requests answers those it can', async () => {
    const calls = Array.from({ length: 3000 }, () => link.call({ op: 'files.stat', path: '/etc/passwd' }))
    const codes = (await Promise.all(calls.map(({ closed }) => closed))).map((error) => error?.code)
    expect(new Set(codes)).toEqual(new Set([undefined, 'too_many']))
    await expectUnharmed()
  })

  test('connections that go leave nothing open', async () => {
    const before = countFiles(agent)
    for (let round = 0; round < 30; round++) {
      const own = await agent.connect()
      own.call({ op: 'terminal.attach', id: 'kept', lossy: false })
      own.call({ op: 'exec', argv: ['sleep', '100'], login: false, cwd: '/', env: {} })
      own.call({ op: 'files.write', path: `${agent.folder}/x` })
      await own.ask({ op: 'ping' })
      own.close()
    }
    // Connections of earlier tests may have been open still.
    await expect.poll(() => countFiles(agent)).toBeLessThanOrEqual(before)
    await expectUnharmed()
  })
})

function countFiles(agent: TestAgent): number {
  return readdirSync(`/proc/${agent.process.pid}/fd`).length
}

function withOp(op: string, fields: unknown): object {
  return { argv: ['true'], command: 'true', ...(typeof fields === 'object' ? fields : {}), op }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
