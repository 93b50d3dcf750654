import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startAgent } from '../testing/start-agent.ts'
import { AgentLost } from './agent-error.ts'

const bash = (script: string, cwd = '/') => ({ argv: ['bash', '-c', script], login: false, cwd, env: {} })

test('an agent that was set up says so to the next server, and is still the same one', async () => {
  const { agent, running } = await startAgent()
  expect(agent.isReady).toBe(false)
  const next = await running.connect()
  expect(next.isReady).toBe(true)
  expect(next.bootId).toBe(agent.bootId)
  await Promise.all([agent.ping(), next.ping()])
  next.close()
})

test('a command runs with its input, output, errors and exit', async () => {
  const { agent } = await startAgent()
  const exec = agent.exec(bash('cat; echo oops >&2; exit 3'))
  exec.stdin.end('hello')
  const [output, errors] = await Promise.all([text(exec.stdout), text(exec.stderr)])
  expect([output, errors]).toEqual(['hello', 'oops\n'])
  expect(await exec.exited).toEqual({ code: 3, signal: null })
})

test('a command of which only the output is read ends, however much it complains', async () => {
  const { agent } = await startAgent()
  const exec = agent.exec(bash('head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero'))
  let length = 0
  for await (const piece of exec.stdout) length += piece.length
  expect(length).toBe(3_000_000)
  expect(await exec.exited).toEqual({ code: 0, signal: null })
})

test('signals reach a command', async () => {
  const { agent } = await startAgent()
  const exec = agent.exec(bash('trap "exit 7" TERM; echo ready; while :; do sleep 0.01; done'))
  for await (const _ of exec.stdout) {
    exec.signal('SIGTERM')
    break
  }
  expect(await exec.exited).toEqual({ code: 7, signal: null })
})

test('a health check says how it went', async () => {
  const { agent } = await startAgent()
  expect(await agent.checkHealth('echo fine', 5000)).toMatchObject({ code: 0 })
  expect(await agent.checkHealth('echo bad >&2; exit 2', 5000)).toEqual({ code: 2, output: 'bad' })
  expect(await agent.checkHealth('sleep 60', 50)).toMatchObject({ code: null })
})

test('the token is written where programs find it', async () => {
  const { agent, running } = await startAgent()
  await agent.writeToken('a-token')
  expect(await readFile(join(running.folder, 'runtime/workspace-token'), 'utf8')).toBe('a-token')
})

test('a member gets a home', async () => {
  const { agent, running } = await startAgent()
  await agent.prepareHome('7', 'ada')
  expect(await agent.files.stat(join(running.homes, 'ada'))).toMatchObject({ is_dir: true })
})

test('an agent that dies takes everything under way with it', async () => {
  const { agent, running } = await startAgent()
  // Ends by itself when nobody holds its input any more.
  const exec = agent.exec(bash('cat'))
  await agent.ping()
  await running.kill()
  await expect(exec.exited).rejects.toBeInstanceOf(AgentLost)
  await agent.lost
})

test('a terminal outlives the connection that opened it', async () => {
  const { agent, running } = await startAgent()
  await agent.terminals.open({ id: 't1', cols: 80, rows: 24, env: { PS1: '$ ' }, cwd: running.homes, label: 'a' })
  await agent.terminals.label('t1', '{"n":1}')
  let shown = ''
  const quiet = { exited: () => {}, lost: () => {} }
  const first = agent.terminals.attach(
    { id: 't1', lossy: false },
    {
      ...quiet,
      output: (bytes) => {
        shown += Buffer.from(bytes).toString()
        first.consumed(bytes.length)
      },
    },
  )
  expect(await first.attached).toMatchObject({ cols: 80, rows: 24 })
  await first.write(Buffer.from('echo 6$((6*7))\n'))
  await expect.poll(() => shown).toContain('642')
  agent.close()

  const next = await running.connect()
  expect(await next.terminals.list()).toMatchObject({
    terminals: [{ id: 't1', cols: 80, rows: 24, label: '{"n":1}' }],
    opened: 1,
  })
  let screen = ''
  const exited = Promise.withResolvers<unknown>()
  const second = next.terminals.attach(
    { id: 't1', lossy: false },
    {
      output: (bytes) => {
        screen += Buffer.from(bytes).toString()
        second.consumed(bytes.length)
      },
      exited: exited.resolve,
      lost: () => exited.reject(new Error('lost')),
    },
  )
  await second.attached
  await expect.poll(() => screen).toContain('642')
  await second.write(Buffer.from('exit 4\n'))
  expect(await exited.promise).toEqual({ code: 4, signal: null })
  next.close()
})

test('files are written, listed, read, renamed and removed', async () => {
  const { agent, running } = await startAgent()
  const { files } = agent
  const at = (name: string) => join(running.homes, name)
  await files.makeDirectory(at('d'))
  const pieces = async function* () {
    for (let count = 0; count < 50; count++) yield Buffer.alloc(100_000, count)
  }
  expect(await files.write(at('d/new/large'), pieces())).toEqual({ size: 5_000_000 })
  await writeFile(at('d/b\nc'), 'x')
  expect((await files.list(at('d'))).map((entry) => entry.name)).toEqual(['b\nc', 'new'])
  const { entry, content } = await files.read(at('d/new/large'))
  expect(entry).toMatchObject({ name: 'large', is_dir: false, size: 5_000_000 })
  let length = 0
  for await (const piece of content) length += piece.length
  expect(length).toBe(5_000_000)
  expect(await files.stat('/')).toMatchObject({ is_dir: true })
  await files.rename(at('d/b\nc'), at('e/f'))
  expect(await files.stat(at('e/f'))).toMatchObject({ name: 'f', size: 1 })
  await expect(files.rename(at('e/f'), at('d'))).rejects.toMatchObject({ code: 'exists' })
  await files.remove(at('d'))
  await expect(files.list(at('d'))).rejects.toMatchObject({ code: 'not_found' })
  await expect(files.read(at('e'))).rejects.toMatchObject({ code: 'is_directory' })
})

test('a file whose source fails leaves nothing', async () => {
  const { agent, running } = await startAgent()
  const broken = async function* () {
    yield Buffer.alloc(500_000)
    throw new Error('broken off')
  }
  await expect(agent.files.write(join(running.homes, 'f'), broken())).rejects.toThrow('broken off')
  await expect.poll(async () => (await agent.files.list(running.homes)).map((entry) => entry.name)).toEqual(['svc'])
})

test('an archive of a directory is one that tar can read', async () => {
  const { agent, running } = await startAgent()
  await agent.files.write(join(running.homes, 'd/f'), one('inside'))
  const archive = join(running.folder, 'd.tar.gz')
  await writeFile(archive, agent.files.archive(join(running.homes, 'd')))
  const exec = agent.exec({ argv: ['tar', '-xzOf', archive], login: false, cwd: '/', env: {} })
  expect(await text(exec.stdout)).toBe('inside')
})

async function* one(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content)
}
