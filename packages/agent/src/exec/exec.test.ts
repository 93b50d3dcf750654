import type { ExecRequest } from '@svc/protocol/agent/requests'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestAgent } from '../testing/test-agent.ts'
import type { TestLink } from '../testing/test-link.ts'

describe('exec', () => {
  let agent: TestAgent
  let link: TestLink

  beforeAll(async () => {
    ;({ agent, link } = await TestAgent.ready({ setup: { env: { FROM_SETUP: 'yes' } } }))
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const command = (argv: string[], more: Partial<ExecRequest> = {}): ExecRequest => ({
    op: 'exec',
    argv,
    login: false,
    cwd: agent.home,
    env: {},
    ...more,
  })
  const shell = (script: string) => command(['bash', '-c', script])

  test('output and errors arrive apart, and the exit code after the last byte', async () => {
    const call = await link.ask(shell('echo out; echo err >&2; exit 7'))
    expect(call.text).toBe('out\n')
    expect(call.errorText).toBe('err\n')
    expect(call.messages).toEqual([{ type: 'exited', code: 7, signal: null }])
  })

  test.each([{ login: false }, { login: true }])('arguments arrive unchanged, $login', async ({ login }) => {
    const odd = ['', ' a b ', '$HOME', '"', "'", '\n', '*', 'ä', '\\', '-n']
    const call = await link.ask(command(['printf', '<%s>', ...odd], { login }))
    expect(call.text).toBe(odd.map((word) => `<${word}>`).join(''))
  })

  test('a program that is not there is told as a shell tells it', async () => {
    const call = await link.ask(command(['no-such-program']))
    expect(call.errorText).toBe('svc: no-such-program: command not found\n')
    expect(call.message('exited')).toEqual({ type: 'exited', code: 127, signal: null })
  })

  test('a file that is not a program is told as a shell tells it', async () => {
    const call = await link.ask(command(['/etc/passwd']))
    expect(call.errorText).toBe('svc: /etc/passwd: permission denied\n')
    expect(call.message('exited')?.code).toBe(126)
  })

  test('input is ended by the caller, and arrives whole', async () => {
    const call = link.call(command(['sha256sum']))
    const bytes = Buffer.alloc(20 * 1024 * 1024, 'abcdefg')
    await call.channel.write(bytes)
    call.channel.end()
    expect(await call.closed).toBeUndefined()
    const { createHash } = await import('node:crypto')
    expect(call.text).toContain(createHash('sha256').update(bytes).digest('hex'))
  })

  test('a reader who is slow holds the command back, and gets every byte', async () => {
    const call = link.call(shell('head -c 5000000 /dev/zero; echo done >&2'))
    call.isSlow = true
    await expect.poll(() => call.bytes.length).toBe(256 * 1024)
    expect(call.errorText).toBe('')
    call.hurry()
    expect(await call.closed).toBeUndefined()
    expect(call.bytes.length).toBe(5_000_000)
    expect(call.errorText).toBe('done\n')
  })

  test('a signal reaches the whole group and is told by its name', async () => {
    const call = link.call(shell('sleep 100 & echo started; wait'))
    await expect.poll(() => call.text).toBe('started\n')
    call.channel.message({ type: 'signal', signal: 'SIGNONSENSE' })
    call.channel.message({ type: 'signal', signal: 'SIGTERM' })
    await call.closed
    expect(call.message('exited')).toEqual({ type: 'exited', code: 143, signal: 'SIGTERM' })
  })

  test('a child that lives on keeps nobody waiting', async () => {
    const call = await link.ask(shell('sleep 30 & echo $!'))
    expect(call.message('exited')?.code).toBe(0)
    process.kill(Number(call.text))
  })

  test('a child that goes on writing keeps nobody waiting', async () => {
    const call = await link.ask(shell('yes & echo $! >&2'))
    expect(call.message('exited')?.code).toBe(0)
    process.kill(Number(call.errorText), 'SIGKILL')
  })

  test.each([
    ['closed', (call: { channel: { close(): void } }) => call.channel.close()],
    ['lost', (_: unknown, own: TestLink) => own.close()],
  ])('the whole group is killed when the channel is %s, also what ignores the polite signal', async (_, leave) => {
    const own = await agent.connect()
    const call = own.call(shell('trap "" TERM; sleep 1000 & echo $$ $!; while :; do sleep 0.05; done'))
    await expect.poll(() => call.text).toMatch(/\d+ \d+\n/)
    const pids = call.text.trim().split(' ').map(Number)
    leave(call, own)
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false])
  })

  test('variables: the request wins over setup, setup over the container', async () => {
    const call = await link.ask({ ...shell('echo $FROM_SETUP $OWN $HOME'), env: { OWN: '1' } })
    expect(call.text).toBe(`yes 1 ${agent.home}\n`)
    const overridden = await link.ask({ ...shell('echo $FROM_SETUP'), env: { FROM_SETUP: 'no' } })
    expect(overridden.text).toBe('no\n')
  })

  test('a directory that is gone is replaced by the home', async () => {
    const call = await link.ask(command(['pwd'], { cwd: '/no/such/place' }))
    expect(call.text).toBe(`${agent.home}\n`)
  })

  test.each([
    [{ argv: [] }],
    [{ argv: ['a\0b'] }],
    [{ argv: 'ls' }],
    [{ env: { 'A=B': 'c' } }],
    [{ env: { A: 1 } }],
    [{ cwd: null }],
    [{ login: 'yes' }],
  ])('a request with %j is refused', async (fields) => {
    expect(await link.callWith({ ...command(['true']), ...fields }).closed).toMatchObject({ code: 'bad_request' })
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
