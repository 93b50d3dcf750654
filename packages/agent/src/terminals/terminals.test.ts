import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { TerminalAttachRequest, TerminalOpenRequest } from '@svc/protocol/agent/requests'
import { SerializeAddon } from '@xterm/addon-serialize'
import headless from '@xterm/headless'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestAgent } from '../testing/test-agent.ts'
import type { TestCall, TestLink } from '../testing/test-link.ts'

/** What a person sees who is shown these bytes. */
async function screenOf(bytes: Uint8Array, size = { cols: 80, rows: 24 }): Promise<string> {
  const terminal = new headless.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true })
  const serializer = new SerializeAddon()
  terminal.loadAddon(serializer)
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  return serializer.serialize()
}

describe('terminals', () => {
  let agent: TestAgent
  let link: TestLink
  let count = 0

  beforeAll(async () => {
    ;({ agent, link } = await TestAgent.ready({ env: { SHELL: '/bin/bash' } }))
  })
  afterAll(() => agent[Symbol.asyncDispose]())

  const open = async (more: Partial<TerminalOpenRequest> = {}) => {
    const id = `t${++count}`
    const request: TerminalOpenRequest = {
      op: 'terminal.open',
      id,
      cols: 80,
      rows: 24,
      env: { PS1: '$ ' },
      cwd: agent.home,
      label: '',
    }
    await link.ask({ ...request, ...more })
    return id
  }
  const attach = (id: string, more: Partial<TerminalAttachRequest> = {}) =>
    link.call({ op: 'terminal.attach', id, lossy: false, ...more })
  const type = (call: TestCall, text: string) => call.channel.write(Buffer.from(text))
  const list = async () => (await link.ask({ op: 'terminal.list' })).message('terminals')?.terminals ?? []

  /** Whether nothing more comes from a terminal that has printed much. */
  const isHeld = (id: string) => {
    let before = 0
    return async () => {
      const offset = (await list()).find((terminal) => terminal.id === id)?.offset
      const isSame = offset === before
      before = offset ?? 0
      return isSame && before > 1_000_000
    }
  }

  test('a terminal echoes, runs commands, and says how it ended after the last byte', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, 'echo $((6*7)); exit 3\r')
    expect(await call.closed).toBeUndefined()
    expect(call.text).toContain('42\r\n')
    expect(call.messages.at(-1)).toEqual({ type: 'exited', code: 3, signal: null })
    expect((await list()).map((terminal) => terminal.id)).not.toContain(id)
    expect(await attach(id).closed).toMatchObject({ code: 'not_found' })
  })

  test('the shell is a login shell in the directory asked for, with the variables of a terminal', async () => {
    const call = attach(await open({ cwd: '/usr', env: { OWN: 'x' } }))
    await type(call, 'shopt -q login_shell && echo "login=$PWD,$TERM,$COLORTERM,$OWN,$HOME,$(tty)"; exit\r')
    await call.closed
    expect(call.text).toMatch(`login=/usr,xterm-256color,truecolor,x,${agent.home},/dev/pts/`)
  })

  test('the shell greets with its prompt', async () => {
    const call = attach(await open())
    await expect.poll(() => call.text).toMatch(/[$#] $/)
  })

  test('a shell holds no other terminal open', async () => {
    await open()
    const call = attach(await open())
    await type(call, 'ls -l /proc/$$/fd | grep -c ptmx; exit\r')
    await call.closed
    expect(call.text).toMatch(/\r0\r\n/)
  })

  test('a viewer who was away is given what it missed', async () => {
    const id = await open()
    const first = attach(id)
    await type(first, 'echo fi""rst\r')
    await expect.poll(() => first.text).toContain('first\r\n')
    const seen = first.bytes.length + (first.message('attached')?.offset ?? 0)
    first.channel.close()
    const second = attach(id)
    await type(second, 'echo sec""ond\r')
    await expect.poll(() => second.text).toContain('second\r\n')
    const third = attach(id, { from: seen })
    await expect.poll(() => third.text).toContain('second\r\n')
    expect(third.message('attached')).toMatchObject({ offset: seen, snapshot_bytes: 0 })
    expect(third.text).not.toContain('first\r\n')
  })

  test('a new viewer sees the very screen of one who watched all along', async () => {
    const id = await open()
    const watcher = attach(id)
    const script =
      'for i in $(seq 300); do printf "\\e[3$((i%8))mline %s\\e[0m\\n" $i; done; printf "\\e[5;10Hhere\\e[20H"; echo do""ne\r'
    await type(watcher, script)
    await expect.poll(() => watcher.text).toContain('done\r\n')
    const late = attach(id)
    await expect.poll(() => late.message('attached')).toBeDefined()
    const { snapshot_bytes = 0, offset = 0 } = late.message('attached') ?? {}
    await expect.poll(() => late.bytes.length).toBeGreaterThanOrEqual(snapshot_bytes)
    const base = watcher.message('attached')
    const upTo = offset - (base?.offset ?? 0) + (base?.snapshot_bytes ?? 0)
    expect(await screenOf(late.bytes.subarray(0, snapshot_bytes))).toBe(await screenOf(watcher.bytes.subarray(0, upTo)))
  })

  test('a large paste arrives whole', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, `echo re""ady; cat > pasted; echo do""ne\r`)
    await expect.poll(() => call.text).toContain('ready\r\n')
    const paste = Buffer.from(Array.from({ length: 20_000 }, (_, index) => `${index} ${'x'.repeat(92)}\r`).join(''))
    await call.channel.write(paste)
    await type(call, '\x04')
    await expect.poll(() => call.text).toContain('done\r\n')
    expect(await readFile(`${agent.home}/pasted`, 'utf8')).toBe(paste.toString().replaceAll('\r', '\n'))
  })

  test('input that nobody reads holds back its sender, and nobody else', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, 'stty raw -echo; echo re""ady; sleep 1000\r')
    await expect.poll(() => call.text).toContain('ready')
    let isTaken = false
    void call.channel.write(Buffer.alloc(2_000_000, 'x')).then(() => (isTaken = true))
    const other = attach(await open())
    await type(other, 'echo al""ive; exit\r')
    await other.closed
    expect(other.text).toContain('alive\r\n')
    expect(isTaken).toBe(false)
    await link.ask({ op: 'terminal.close', id })
    await call.closed
  })

  test('a slow viewer that must not miss anything holds the program back, and gets every byte', async () => {
    const id = await open()
    const call = attach(id)
    call.isSlow = true
    await type(call, 'stty -echo; seq 1000000; touch finished; exit\r')
    await expect.poll(isHeld(id), { interval: 200 }).toBe(true)
    await expect(readFile(`${agent.home}/finished`)).rejects.toThrow()
    call.hurry()
    await call.closed
    const numbers = [...call.text.matchAll(/(?<=[\r\n])(\d+)(?=\r\n)/g)].map(([, number]) => number)
    expect(numbers.length).toBe(1_000_000)
    expect(numbers.every((number, index) => Number(number) === index + 1)).toBe(true)
    await expect(readFile(`${agent.home}/finished`)).resolves.toBeDefined()
  })

  test('of two viewers who must not miss anything the quick one gets every byte, the slow one is drawn anew', async () => {
    const id = await open()
    const [quick, slow] = [attach(id), attach(id)]
    await expect.poll(() => slow.message('attached')).toBeDefined()
    slow.isSlow = true
    await type(quick, 'stty -echo; seq 1000000; echo do""ne\r')
    await expect.poll(() => quick.text).toContain('done\r\n')
    const numbers = [...quick.text.matchAll(/(?<=[\r\n])(\d+)(?=\r\n)/g)].map(([, number]) => Number(number))
    expect(numbers).toEqual(Array.from({ length: 1_000_000 }, (_, index) => index + 1))
    expect(quick.message('resync')).toBeUndefined()
    slow.hurry()
    await expect.poll(() => slow.text).toContain('done\r\n')
    const resync = slow.message('resync')
    expect(resync).toBeDefined()
    expect(slow.bytes.length).toBeLessThan(3_000_000)
    expect(slow.text).toContain('\r\n999999\r\n1000000\r\n')
    // What the slow one lost is behind it: alone, it is waited for again.
    quick.channel.close()
    slow.isSlow = true
    await type(slow, 'seq 2000000; exit\r')
    await expect.poll(isHeld(id), { interval: 200 }).toBe(true)
    slow.hurry()
    await slow.closed
    expect(slow.messages.filter(({ type }) => type === 'resync')).toEqual([resync])
    expect(slow.text).toContain('\r\n1999999\r\n2000000\r\n')
  })

  test('a slow viewer that may miss output is brought up to date, and holds back nobody', async () => {
    const id = await open()
    const owner = attach(id)
    const lossy = attach(id, { lossy: true })
    lossy.isSlow = true
    await type(owner, 'stty -echo; seq 1000000; echo do""ne\r')
    await expect.poll(() => owner.text).toContain('done\r\n')
    lossy.hurry()
    await expect.poll(() => lossy.text).toContain('done\r\n')
    const resync = lossy.message('resync')
    expect(resync).toBeDefined()
    expect(lossy.bytes.length).toBeLessThan(3_000_000)
  })

  test('a resize reaches the program and is told to the other viewers', async () => {
    const id = await open()
    const [owner, other] = [attach(id), attach(id)]
    await expect.poll(() => other.message('attached')).toBeDefined()
    owner.channel.message({ type: 'resize', cols: 132, rows: 43 })
    await type(owner, 'stty size\r')
    await expect.poll(() => owner.text).toContain('43 132')
    await expect.poll(() => other.message('resized')).toEqual({ type: 'resized', cols: 132, rows: 43 })
    for (const size of [
      { cols: 0, rows: 1 },
      { cols: 1e9, rows: 1 },
      { cols: 'x', rows: null },
    ]) {
      owner.channel.message({ type: 'resize', ...size })
    }
    expect((await list()).find((terminal) => terminal.id === id)).toMatchObject({ cols: 132, rows: 43 })
  })

  test('a resize that comes while the shell ends harms nothing', async () => {
    for (let round = 0; round < 10; round++) {
      const call = attach(await open())
      await expect.poll(() => call.text).toMatch(/[$#] $/)
      await type(call, 'exit\r')
      for (let cols = 80; !call.channel.isClosed; cols = 80 + ((cols + 1) % 40)) {
        call.channel.message({ type: 'resize', cols, rows: 24 })
        await delay(1)
      }
      expect(await call.closed).toBeUndefined()
    }
    expect(agent.errors).toBe('')
  })

  test('a title that a program sets is told and listed', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, `printf '\\e]2;my title\\a'; sleep 1000\r`)
    await expect.poll(() => call.messages).toContainEqual({ type: 'titled', title: 'my title' })
    expect((await list()).find((terminal) => terminal.id === id)?.title).toBe('my title')
  })

  test('terminals outlive the connection of the server', async () => {
    const id = await open()
    const own = await agent.connect()
    const call = own.call({ op: 'terminal.attach', id, lossy: false })
    await type(call, 'echo kept=$((40+2))\r')
    await expect.poll(() => call.text).toContain('kept=42\r\n')
    own.close()
    const again = attach(id)
    await expect.poll(() => again.text).toContain('kept=42')
  })

  test('closing ends the shell and what runs in it, also what ignores it', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, `bash -c 'trap "" HUP; echo pid=$$; while :; do sleep 0.1; done'\r`)
    await expect.poll(() => call.text).toMatch(/pid=\d+\r\n/)
    const pid = Number(/pid=(\d+)\r\n/.exec(call.text)?.[1])
    await link.ask({ op: 'terminal.close', id })
    await call.closed
    expect(call.message('exited')).toMatchObject({ signal: 'SIGHUP' })
    await expect.poll(() => isAlive(pid)).toBe(false)
    await link.ask({ op: 'terminal.close', id })
  })

  test('one that was closed is gone at once, though its shell takes a moment to end', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, 'echo re""ady\r')
    await expect.poll(() => call.text).toContain('ready\r\n')
    await link.ask({ op: 'terminal.close', id })
    const { terminals } = (await link.ask({ op: 'terminal.list' })).message('terminals') ?? {}
    expect(terminals?.map((terminal) => terminal.id)).not.toContain(id)
    await open({ id })
    await call.closed
    await link.ask({ op: 'terminal.close', id })
  })

  test('what was left in the background with nohup outlives its terminal', async () => {
    const id = await open()
    const call = attach(id)
    await type(call, `nohup sleep 1000 & echo pid=$!\r`)
    await expect.poll(() => call.text).toMatch(/pid=\d+\r\n/)
    const pid = Number(/pid=(\d+)\r\n/.exec(call.text)?.[1])
    await link.ask({ op: 'terminal.close', id })
    await call.closed
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  test.each([
    [{ id: '' }],
    [{ cols: 0 }],
    [{ rows: 1.5 }],
    [{ rows: 5000 }],
    [{ cols: '80' }],
    [{ env: [] }],
    [{ cwd: 7 }],
    [{ label: undefined }],
    [{ label: 'x'.repeat(1025) }],
  ])('opening with %j is refused', async (fields) => {
    const request = { op: 'terminal.open', id: 'odd', cols: 80, rows: 24, env: {}, cwd: '/', label: '' }
    expect(await link.callWith({ ...request, ...fields }).closed).toMatchObject({ code: 'bad_request' })
  })

  test('a label is kept with its terminal until it is replaced, and listed', async () => {
    const label = JSON.stringify({ n: 1, name: 'ä'.repeat(900) })
    const [id, other] = [await open({ label }), await open()]
    const labels = async () => (await list()).filter((one) => one.id === id || one.id === other).map((one) => one.label)
    expect(await labels()).toEqual([label, ''])
    await link.ask({ op: 'terminal.label', id, label: 'new' })
    expect(await labels()).toEqual(['new', ''])
    await expect(link.ask({ op: 'terminal.label', id, label: 'x'.repeat(1025) })).rejects.toThrow('bad_request')
    await expect(link.ask({ op: 'terminal.label', id: 'gone', label: '' })).rejects.toThrow('not_found')
    expect(await labels()).toEqual(['new', ''])
  })

  test('all terminals that were ever opened are counted, those that could not be left out', async () => {
    const opened = async () => (await link.ask({ op: 'terminal.list' })).message('terminals')?.opened ?? 0
    const before = await opened()
    const id = await open()
    await expect(open({ id })).rejects.toThrow('exists')
    const call = attach(id)
    await link.ask({ op: 'terminal.close', id })
    await call.closed
    await open()
    expect(await opened()).toBe(before + 2)
  })

  test('a name is used once', async () => {
    const id = await open()
    await expect(open({ id })).rejects.toThrow('exists')
  })
})

describe('the service', () => {
  test('runs once, shows how it ended, and leaves a shell with the command at hand', async () => {
    const service_command = 'echo started >> count; echo "home=$HOME"; exit 5'
    const { agent, link } = await TestAgent.ready({ env: { SHELL: '/bin/bash' }, setup: { service_command } })
    await using _ = agent
    await link.ask({ op: 'setup', sudo: false, service_command: 'echo again >> count', token: null, env: {} })
    const call = link.call({ op: 'terminal.attach', id: 'service', lossy: false })
    await expect.poll(() => call.text).toContain('[The service ended with status 5]')
    expect(call.text).toContain(`home=${agent.home}`)
    expect(await readFile(`${agent.home}/count`, 'utf8')).toBe('started\n')
    const listed = (await link.ask({ op: 'terminal.list' })).message('terminals')?.terminals
    expect(listed).toMatchObject([{ id: 'service', exit_code: 5, label: '' }])
    await expect.poll(() => call.text).toMatch(/status 5\].*[#$] $/s)
    await call.channel.write(Buffer.from('\x1b[A'))
    await expect.poll(() => call.text).toContain(service_command)
  })

  test('has not ended while its status is still being written', async () => {
    const { agent, link } = await TestAgent.ready({ setup: { service_command: 'sleep 1000' } })
    await using _ = agent
    await writeFile(`${agent.folder}/runtime/service-status`, '')
    expect((await link.ask({ op: 'terminal.list' })).message('terminals')?.terminals[0]?.exit_code).toBeNull()
  })

  test('the interrupt key ends the command and leaves the shell', async () => {
    const { agent, link } = await TestAgent.ready({ setup: { service_command: 'echo up; sleep 1000' } })
    await using _ = agent
    const call = link.call({ op: 'terminal.attach', id: 'service', lossy: false })
    await expect.poll(() => call.text).toContain('up')
    expect((await link.ask({ op: 'terminal.list' })).message('terminals')?.terminals[0]?.exit_code).toBeNull()
    await call.channel.write(Buffer.from('\x03'))
    await expect.poll(() => call.text).toContain('status 130]')
    await call.channel.write(Buffer.from('echo still=$((1+1))\r'))
    await expect.poll(() => call.text).toContain('still=2\r\n')
  })
})

describe('an agent of which a part is missing', () => {
  const startedWith = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })
  const request = { op: 'terminal.open', id: 't', cols: 80, rows: 24, env: {}, cwd: '/', label: '' } as const

  test('opens no terminals, and does everything else', async () => {
    const env = startedWith('process.dlopen = () => { throw new Error("not there") }')
    const { agent, link } = await TestAgent.ready({ env })
    await using _ = agent
    await expect.poll(() => agent.errors).toContain('not there')
    expect(await link.call(request).closed).toEqual({
      code: 'failed',
      message: 'Terminals cannot be opened in this workspace: a part of the agent is missing',
    })
    await link.ask({ op: 'files.stat', path: '/' })
  })

  test('shows no screens, and does everything else', async () => {
    const resolve = `(name, context, next) => {
      if (name.endsWith('emulator.ts')) throw new Error('not there')
      return next(name, context)
    }`
    const env = startedWith(`import { registerHooks } from 'node:module'; registerHooks({ resolve: ${resolve} })`)
    const { agent, link } = await TestAgent.ready({ env })
    await using _ = agent
    await expect.poll(() => agent.errors).toContain('not there')
    await link.ask(request)
    expect(await link.call({ op: 'terminal.attach', id: 't', lossy: false }).closed).toEqual({
      code: 'failed',
      message: 'The screen of this terminal cannot be shown',
    })
    await link.ask({ op: 'terminal.list' })
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
