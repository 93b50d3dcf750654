import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ExecClient, homeOf } from '../../testing/exec-client.ts'
import { makeWorkspace, openLocalEngine } from '../../testing/live-workspace.ts'
import { type AccountsServer, type Person, startAccounts, succeed } from '../../testing/start-accounts.ts'

let server: AccountsServer
let ann: Person
let workspaceId: string
beforeAll(async () => {
  server = await startAccounts({ openEngine: openLocalEngine })
  ann = await server.person('ann')
  workspaceId = await makeWorkspace(ann)
})
afterAll(() => server[Symbol.asyncDispose]())

async function open(caps?: ('exec2' | 'bin' | 'req')[], person = ann): Promise<ExecClient> {
  const client = await ExecClient.open(server, { person, workspaceId, ...(caps ? { caps } : {}) })
  onTestFinished(() => client.socket.close())
  return client
}
const modern = () => open(['exec2'])

const ODD_WORDS = [
  '',
  ' a b ',
  '$HOME',
  '`id`',
  '"',
  "'",
  '\\',
  '\n',
  '\t',
  '*',
  'ä€😀',
  '-n',
  '--',
  '; exit 3',
  '\u0001',
]

test.each([
  { login: false, stderr: 'separate' },
  { login: true, stderr: 'separate' },
  { login: false, stderr: 'merge' },
  { login: true, stderr: 'merge' },
])('arguments arrive as they are: $login, $stderr', async (more) => {
  const client = await modern()
  const { stdout, exit } = await client.run(['printf', '<%s>', ...ODD_WORDS], more)
  expect(stdout.toString()).toBe(ODD_WORDS.map((word) => `<${word}>`).join(''))
  expect(exit).toEqual({ type: 'exec_exit', exec_id: expect.any(String), code: 0 })
})

test('a login shell reads the profile, and without one it is not read', async () => {
  const client = await modern()
  await client.shell('echo "export FROM_PROFILE=yes" >> ~/.profile; rm -f ~/.bash_profile')
  const show = ['sh', '-c', 'echo "<$FROM_PROFILE>"']
  expect((await client.run(show, { login: true })).stdout.toString()).toBe('<yes>\n')
  expect((await client.run(show)).stdout.toString()).toBe('<>\n')
})

test('a command runs at home, as the person who asked', async () => {
  const client = await modern()
  const show = 'pwd; echo $HOME $SSH_AUTH_SOCK $SVCWS_USER_ID $SVCWS_USER_HANDLE'
  expect(await client.shell(show)).toBe(`/home/svc\n/home/svc /tmp/svc-ssh-agent-${ann.id}.sock ${ann.id} ann\n`)
})

test('directory and variables can be chosen', async () => {
  const client = await modern()
  expect(await client.shell('pwd; echo "$A"', { cwd: '/usr/bin', env: { A: 'ä\nb' } })).toBe('/usr/bin\nä\nb\n')
  expect(await client.shell('mkdir -p sub; cd sub; pwd')).toBe('/home/svc/sub\n')
  expect(await client.shell('pwd', { cwd: 'sub' })).toBe('/home/svc/sub\n')
})

test.each([
  [['sh', '-c', 'exit 0'], { code: 0 }],
  [['sh', '-c', 'exit 7'], { code: 7 }],
  [['sh', '-c', 'exit 255'], { code: 255 }],
  [['sh', '-c', 'kill -TERM $$'], { code: 143, signal: 'TERM' }],
  [['sh', '-c', 'kill -KILL $$'], { code: 137, signal: 'KILL' }],
  [['no-such-program'], { code: 127 }],
  [['/etc/passwd'], { code: 126 }],
])('%j ends with %j', async (command, exit) => {
  const client = await modern()
  const { exec_id, type, ...told } = (await client.run(command)).exit
  expect(told).toEqual(exit)
})

test('standard error comes apart, or merged in the order in which it was written', async () => {
  const client = await modern()
  const script = ['sh', '-c', 'for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done']
  const apart = await client.run(script)
  expect(apart.stdout.toString()).toBe('out 1\nout 2\nout 3\nout 4\nout 5\n')
  expect(apart.stderr.toString()).toBe('err 1\nerr 2\nerr 3\nerr 4\nerr 5\n')
  const merged = await client.run(script, { stderr: 'merge' })
  expect(merged.stdout.toString()).toBe([1, 2, 3, 4, 5].map((n) => `out ${n}\nerr ${n}\n`).join(''))
  expect(merged.stderr.length).toBe(0)
})

test('input that has ended is sorted, and the output still comes', async () => {
  const client = await modern()
  const { id } = await client.start(['sort'])
  client.input(id, 'c\na\n')
  client.input(id, 'b\n')
  client.tell('exec_close_stdin', id)
  expect((await client.exit(id)).code).toBe(0)
  expect(client.text(id, 'stdout')).toBe('a\nb\nc\n')
})

test('a signal reaches the command and what it has started', async () => {
  const client = await modern()
  const { id } = await client.start([
    'sh',
    '-c',
    'trap "echo child >&2" INT; (trap "echo INT; exit" INT; echo up; while :; do sleep 0.05; done); exit 5',
  ])
  await expect.poll(() => client.text(id, 'stdout')).toBe('up\n')
  client.tell('exec_signal', id, { signal: 'INT' })
  expect((await client.exit(id)).code).toBe(5)
  expect(client.text(id, 'stdout')).toBe('up\nINT\n')
  expect(client.text(id, 'stderr')).toBe('child\n')
})

test('eight run at once and do not wait for each other; a ninth and a known id are refused', async () => {
  const client = await modern()
  const ids: string[] = []
  for (let n = 0; n < 8; n++) ids.push((await client.start(['cat'])).id)
  client.socket.send({ cmd: 'exec_start', exec_id: 'ninth', command: ['true'] })
  expect(await client.socket.next('error')).toMatchObject({ code: 'conflict', cmd: 'exec_start' })
  for (let turn = 0; turn < 3; turn++) {
    for (const id of ids.toReversed()) client.input(id, `${turn} of ${id}\n`)
    await expect
      .poll(() => ids.map((id) => client.text(id, 'stdout').split('\n').length - 1))
      .toEqual(ids.map(() => turn + 1))
  }
  for (const id of ids) client.tell('exec_close_stdin', id)
  for (const id of ids) {
    expect((await client.exit(id)).code).toBe(0)
    expect(client.text(id, 'stdout')).toBe(`0 of ${id}\n1 of ${id}\n2 of ${id}\n`)
  }
  const { id } = await client.start(['cat'])
  client.socket.send({ cmd: 'exec_start', exec_id: id, command: ['true'] })
  expect(await client.socket.next('error')).toMatchObject({ code: 'conflict', cmd: 'exec_start' })
  client.tell('exec_stop', id)
  await client.exit(id)
  client.socket.send({ cmd: 'exec_start', exec_id: id, command: ['true'] })
  expect((await client.exit(id)).code).toBe(0)
})

test('without capabilities there is one command, with both outputs as one', async () => {
  const client = await open()
  client.socket.send({ cmd: 'exec_start', command: ['sh', '-c', 'read line; echo $line; echo err >&2; exit 3'] })
  client.input(undefined, 'hello\n')
  expect(await client.exit()).toEqual({ type: 'exec_exit', code: 3 })
  expect(client.text(undefined)).toBe('hello\nerr\n')
  expect(client.socket.frames.filter(({ type }) => type === 'exec_started')).toEqual([])
})

test('without capabilities a command that is replaced or stopped says no more: its end would be taken for the next one’s', async () => {
  const client = await open()
  const first = ['sh', '-c', 'echo first; sleep 1000']
  client.tell('exec_stop', undefined)
  client.socket.send({ cmd: 'exec_start', command: first })
  await expect.poll(() => client.text(undefined)).toBe('first\n')
  client.socket.send({ cmd: 'exec_start', command: first })
  await expect.poll(() => client.text(undefined)).toBe('first\nfirst\n')
  client.tell('exec_stop', undefined)
  client.socket.send({ cmd: 'exec_start', command: ['echo', 'last'] })
  expect(await client.exit()).toEqual({ type: 'exec_exit', code: 0 })
  expect(client.text(undefined)).toBe('first\nfirst\nlast\n')
  expect(client.exitCount()).toBe(1)
  expect(client.socket.frames.filter(({ type }) => type === 'error')).toEqual([])
})

test('a second command that is refused leaves the first alone', async () => {
  const client = await open()
  client.socket.send({ cmd: 'exec_start', command: ['cat'] })
  client.socket.send({ cmd: 'exec_start', command: ['a\0'] })
  expect(await client.socket.next('error')).toMatchObject({ code: 'invalid' })
  client.input(undefined, 'still here')
  client.tell('exec_close_stdin', undefined)
  expect(await client.exit()).toEqual({ type: 'exec_exit', code: 0 })
  expect(client.text(undefined)).toBe('still here')
})

test('binary messages carry the bytes, with the place of each in its stream', async () => {
  const client = await open(['exec2', 'bin'])
  const { id, channel } = await client.start(['sh', '-c', 'cat; echo oops >&2'])
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 256))
  client.socket.sendBinary({ kind: 'execStdin', channel, offset: 0, payload: bytes.subarray(0, 300) })
  client.socket.sendBinary({ kind: 'execStdin', channel, offset: 0, payload: bytes.subarray(300) })
  client.tell('exec_close_stdin', id)
  expect((await client.exit(id)).code).toBe(0)
  const { binary } = client.socket
  let at = 0
  for (const { kind, offset, payload } of binary.filter((frame) => frame.kind === 'execStdout')) {
    expect([kind, offset]).toEqual(['execStdout', at])
    at += payload.length
  }
  const payloads = (wanted: string) =>
    Buffer.concat(binary.flatMap(({ kind, payload }) => (kind === wanted ? [payload] : [])))
  expect(payloads('execStdout').equals(bytes)).toBe(true)
  expect(payloads('execStderr').toString()).toBe('oops\n')
  expect(binary.every((frame) => frame.channel === channel)).toBe(true)
  expect(client.socket.frames.some(({ type }) => type === 'exec_output')).toBe(false)
})

test('binary messages without ids: the bytes come as text', async () => {
  const client = await open(['bin'])
  client.socket.send({ cmd: 'exec_start', exec_id: 'not known without exec2', command: ['echo', 'hello'] })
  expect(await client.exit()).toEqual({ type: 'exec_exit', code: 0 })
  expect(client.text(undefined)).toBe('hello\n')
})

test.each([
  [{ cmd: 'exec_start', command: [] }, 'invalid'],
  [{ cmd: 'exec_start', command: 'ls' }, 'invalid'],
  [{ cmd: 'exec_start', command: [''] }, 'invalid'],
  [{ cmd: 'exec_start', command: ['a\0b'] }, 'invalid'],
  [{ cmd: 'exec_start', command: ['a'], timeout_s: 0 }, 'invalid'],
  [{ cmd: 'exec_start', command: ['a'], env: { 'A=': '' } }, 'invalid'],
  [{ cmd: 'exec_start', command: ['a', 'x'.repeat(2_000_000)] }, 'too_large'],
  [{ cmd: 'exec_input', data: 'YQ==' }, 'invalid'],
  [{ cmd: 'exec_input', data: 'Y' }, 'invalid'],
  [{ cmd: 'exec_close_stdin' }, 'invalid'],
  [{ cmd: 'exec_signal', signal: 'TERM' }, 'invalid'],
  [{ cmd: 'exec_signal', signal: 'NONSENSE' }, 'invalid'],
  [{ cmd: 'exec_stop' }, 'invalid'],
])('%#: $0.cmd is refused', async (frame, code) => {
  const client = await modern()
  client.socket.send({ exec_id: 'unknown', ...frame })
  expect(await client.socket.next('error')).toMatchObject({ code, cmd: frame.cmd })
})

test('bad input is refused, and the command runs on', async () => {
  const client = await modern()
  const { id } = await client.start(['sh', '-c', 'cat; exec sleep 60'])
  client.socket.send({ cmd: 'exec_input', exec_id: id, data: 'YQ' })
  expect(await client.socket.next('error')).toMatchObject({ code: 'invalid', cmd: 'exec_input' })
  client.tell('exec_signal', id, { signal: 'NONSENSE' })
  expect(await client.socket.next('error')).toMatchObject({ code: 'invalid', cmd: 'exec_signal' })
  client.input(id, 'a')
  client.tell('exec_close_stdin', id)
  client.input(id, 'b')
  expect(await client.socket.next('error')).toMatchObject({ code: 'invalid', cmd: 'exec_input' })
  await expect.poll(() => client.text(id, 'stdout')).toBe('a')
  client.tell('exec_signal', id, { signal: 'TERM' })
  expect((await client.exit(id)).signal).toBe('TERM')
})

test('what comes for a command that has just ended is dropped', async () => {
  const client = await open(['exec2', 'bin', 'req'])
  const { id, channel } = await client.start(['true'])
  await client.exit(id)
  client.input(id, 'late')
  client.socket.sendBinary({ kind: 'execStdin', channel, offset: 0, payload: Buffer.from('late') })
  client.tell('exec_close_stdin', id)
  client.tell('exec_signal', id, { signal: 'TERM' })
  client.tell('exec_stop', id, { req: 'last' })
  expect(await client.socket.next('ack')).toEqual({ type: 'ack', req: 'last', cmd: 'exec_stop' })
  expect(client.socket.frames.filter(({ type }) => type === 'error')).toEqual([])
  client.socket.sendBinary({ kind: 'execStdin', channel: channel + 1, offset: 0, payload: Buffer.from('a') })
  expect(await client.socket.next('error')).toMatchObject({ code: 'invalid' })
  expect(client.exitCount(id)).toBe(1)
})

test('who has no workspace open runs nothing', async () => {
  const socket = await server.socket(ann.token)
  onTestFinished(() => socket.close())
  socket.send({ cmd: 'exec_start', command: ['true'] })
  expect(await socket.next('error')).toMatchObject({ code: 'not_connected' })
})

test('who may not run commands is told which permission is missing, without a code', async () => {
  const bob = await server.person('bob')
  await succeed(ann.post(`/workspaces/${workspaceId}/roles/spectators`, { email: bob.email }))
  const client = await open(undefined, bob)
  client.socket.send({ cmd: 'exec_start', command: ['touch', 'by-bob'] })
  const { message, ...refusal } = await client.socket.next('error')
  expect(refusal).toEqual({ type: 'error', cmd: 'exec_start' })
  expect(message).toContain('exec-and-sync')
  expect(await (await modern()).shell('ls ~/by-bob; echo $?')).toBe('2\n')
})

test('a command keeps its workspace from being idle: when it starts, is fed, and writes', async () => {
  const client = await modern()
  const idleSeconds = async () => {
    const { json } = await succeed(ann.get(`/workspaces/${workspaceId}/status`))
    return Reflect.get(Object(json), 'idle_seconds')
  }
  server.clock.advance(5_000)
  expect(await idleSeconds()).toBe(5)
  const { id } = await client.start(['sh', '-c', 'read a; until test -e written; do sleep 0.02; done; echo seen'])
  expect(await idleSeconds()).toBe(0)
  server.clock.advance(5_000)
  client.input(id, 'a\n')
  await client.socket.roundTrip()
  expect(await idleSeconds()).toBe(0)
  server.clock.advance(5_000)
  await writeFile(join(homeOf(server, workspaceId), 'written'), '')
  await client.exit(id)
  expect(await idleSeconds()).toBe(0)
})
