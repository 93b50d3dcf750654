import { execFile, execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSocket } from '../testing/socket-client.ts'
import { scratchFolder, startDaemon } from '../testing/start-daemon.ts'

// The real daemon, the real engine and the real image, as an operator has them.

const IMAGE = 'localhost/svc-workspace:latest'
const REMOTE_SHELL = join(import.meta.dirname, '../../../../examples/sync/remote-shell.mjs')

function run(program: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}

const missing = run('podman', 'image', 'exists', IMAGE) === undefined

/** A daemon in mode none whose one person is signed in. What it runs is gone after the test. */
async function startServer(folder: string, env: Record<string, string> = {}) {
  const started = await startDaemon(folder, { SVCD_ENGINE: 'docker', SVCD_IMAGE_NAME: IMAGE, ...env })
  const { request } = started
  const local = (await request('POST', '/api/v1/auth/local')).json as { access_token: string }
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await request(method, `/api/v1${path}`, {
      headers: { authorization: `Bearer ${local.access_token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.json as Record<string, unknown>
  }
  const status = (id: string) => call('GET', `/workspaces/${id}/status`)
  return {
    ...started,
    token: local.access_token,
    call,
    status,
    async create(name: string, more: object = {}): Promise<string> {
      return String((await call('POST', '/workspaces', { name, egress_mode: 'allow', ...more })).id)
    },
    start: (id: string) => call('POST', `/workspaces/${id}/start`),
    /** How the container came to its end. */
    async cause(id: string): Promise<unknown> {
      const { running, restart } = await status(id)
      return running ? 'running' : Reflect.get(Object(restart), 'last_cause')
    },
  }
}

async function folderForWorkspaces(): Promise<string> {
  const folder = await scratchFolder()
  // Registered after the folder's own removal, and so done before it.
  onTestFinished(() => {
    const instance = readFileSync(join(folder, 'data', 'instance-id'), 'utf8').trim()
    const filter = `label=svc.instance=${instance}`
    const containers = run('podman', 'ps', '-aq', '--filter', filter)?.split('\n').filter(Boolean) ?? []
    if (containers.length > 0) run('podman', 'rm', '-f', '-t', '0', ...containers)
    const networks = run('podman', 'network', 'ls', '-q', '--filter', filter)?.split('\n').filter(Boolean) ?? []
    if (networks.length > 0) run('podman', 'network', 'rm', '-f', ...networks)
  })
  return folder
}

const inHome = (folder: string, id: string, name: string) =>
  readFile(join(folder, 'data/workspaces', id, 'home/svc', name), 'utf8').catch(() => '')

/** Writes down who it is, and then every moment in which it lives. */
const DIARY = 'echo $$ > ~/pid; while sleep 0.05; do echo tick >> ~/diary; done'

describe.skipIf(missing)('workspaces of the real daemon, in Podman', () => {
  test('a server killed with three workspaces running finds the same containers and shells again', async () => {
    const folder = await folderForWorkspaces()
    const first = await startServer(folder)
    const ids = await Promise.all(['a', 'b', 'c'].map((name) => first.create(name, { service_command: DIARY })))
    await Promise.all(ids.map((id) => first.start(id)))
    await expect.poll(() => Promise.all(ids.map((id) => inHome(folder, id, 'diary')))).not.toContain('')
    const pids = await Promise.all(ids.map((id) => inHome(folder, id, 'pid')))
    const containers = await Promise.all(ids.map(async (id) => (await first.status(id)).container_id))

    first.daemon.kill('SIGKILL')
    await first.daemon.exit()
    const diaries = await Promise.all(ids.map((id) => inHome(folder, id, 'diary')))

    const second = await startServer(folder)
    for (const [n, id] of ids.entries()) {
      expect(await second.status(id)).toMatchObject({ running: true, container_id: containers[n], restart: null })
      expect(await inHome(folder, id, 'pid')).toBe(pids[n])
      const before = diaries[n] ?? ''
      await expect.poll(async () => (await inHome(folder, id, 'diary')).length).toBeGreaterThan(before.length)
      expect((await inHome(folder, id, 'diary')).startsWith(before)).toBe(true)
    }
    const { items } = await second.call('GET', '/events/containers')
    expect(items).toHaveLength(3)
  })

  test('a server killed under an open terminal: the client comes back to the same shell and misses nothing', async () => {
    const folder = await folderForWorkspaces()
    const first = await startServer(folder)
    const id = await first.create('a')
    const open = async ({ url, token }: typeof first, resume?: { channel: number; offset: number }) => {
      const socket = await openSocket(Number(new URL(url).port), token, { caps: 'all' })
      socket.send({ cmd: 'workspace_connect', workspaceId: id })
      await socket.next('container_ready')
      socket.send({ cmd: 'terminal_start', cols: 80, rows: 24, resume })
      return { socket, started: await socket.next('terminal_started') }
    }
    const before = await open(first)
    before.socket.send({ cmd: 'terminal_input', data: 'echo I am $$; (sleep 1; echo mea""nwhile) & fg\n' })
    const { socket } = before
    await socket.until(() => /I am \d+\r\n/.test(socket.output), 'who the shell is')
    const { channel = 0 } = before.started
    const last = socket.binary.findLast(({ kind }) => kind === 'terminalOutput')
    const offset = (last?.offset ?? 0) + (last?.payload.length ?? 0)
    first.daemon.kill('SIGKILL')
    await socket.closed
    await first.daemon.exit()

    const after = await open(await startServer(folder), { channel, offset })
    expect(after.started).toMatchObject({ channel, offset, resumed: true })
    await after.socket.untilOutput('meanwhile')
    after.socket.send({ cmd: 'terminal_input', data: 'echo still $$\n' })
    const pid = /I am (\d+)/.exec(socket.output)?.[1]
    await after.socket.untilOutput(`still ${pid}\r\n`)
    await after.socket.close()
  })

  test('an orderly stop leaves nothing running', async () => {
    const folder = await folderForWorkspaces()
    const server = await startServer(folder)
    const id = await server.create('a')
    await server.start(id)
    server.daemon.kill('SIGTERM')
    expect(await server.daemon.exit()).toBe(0)
    expect(server.daemon.stderr).not.toMatch(/ERROR|CRITICAL/)
    const instance = readFileSync(join(folder, 'data', 'instance-id'), 'utf8').trim()
    expect(run('podman', 'ps', '-aq', '--filter', `label=svc.instance=${instance}`)).toBe('')
  })

  test('the engine’s service killed: the workspace runs on, and can be stopped and started at once', async () => {
    const folder = await folderForWorkspaces()
    const server = await startServer(folder)
    const id = await server.create('a', { service_command: DIARY })
    await server.start(id)
    process.kill(processOf(join(folder, 'state')), 'SIGKILL')
    expect(await server.status(id)).toMatchObject({ running: true })
    await server.call('POST', `/workspaces/${id}/stop`)
    expect(await server.start(id)).toEqual({ status: 'started' })
    // Deaths are still told.
    const { container_id } = await server.status(id)
    run('podman', 'rm', '-f', '-t', '0', String(container_id))
    await expect.poll(() => server.cause(id), { timeout: 2000 }).toBe('removed')
  })

  test('a workspace that uses up its memory: oom; one whose main process ends: exited', async () => {
    const server = await startServer(await folderForWorkspaces())
    // Many small ones, so that the largest process, which the kernel picks, is the agent.
    const hungry = 'for i in $(seq 60); do (x=$(head -c 8000000 /dev/zero | tr "\\0" x); sleep 60) & done; wait'
    const oom = await server.create('oom', { service_command: hungry, settings: { memory_limit: '160m' } })
    const ended = await server.create('ended', { service_command: 'pkill -KILL -f agent.mjs' })
    await Promise.all([server.start(oom), server.start(ended)])
    await expect.poll(() => server.cause(oom)).toBe('oom')
    await expect.poll(() => server.cause(ended)).toBe('exited')
  })

  test('a container cannot reach the address that people use', async () => {
    const folder = await folderForWorkspaces()
    const server = await startServer(folder, { SVCD_LISTEN: '0.0.0.0', SVCD_ALLOW_INSECURE_NO_AUTH: '1' })
    const host = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address
    const ask = `exec 3<>/dev/tcp/${host}/${server.port}; printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3 > ~/answer`
    const id = await server.create('a', { service_command: ask })
    await server.start(id)
    await expect.poll(() => inHome(folder, id, 'answer')).toContain('Workspaces cannot use this address')
    expect(await inHome(folder, id, 'answer')).toMatch(/^HTTP\/1.1 403 /)
  })

  test('rsync brings files into a workspace and out of it', async () => {
    const folder = await folderForWorkspaces()
    const server = await startServer(folder)
    const id = await server.create('a')
    const [here, back] = [join(folder, 'here'), join(folder, 'back')]
    await mkdir(here)
    const text = 'all the same\n'.repeat(1_000_000)
    await writeFile(join(here, 'a file'), text)
    const env = { PATH: process.env.PATH, SVC_URL: server.url, SVC_TOKEN: server.token }
    const sync = (...paths: string[]) =>
      promisify(execFile)('rsync', ['-rti', '-e', `${process.execPath} ${REMOTE_SHELL}`, ...paths], { env })
    expect((await sync(`${here}/`, `${id}:there/`)).stdout).toContain('a file')
    expect(await inHome(folder, id, 'there/a file')).toBe(text)
    expect(await sync(`${here}/`, `${id}:there/`)).toEqual({ stdout: '', stderr: '' })
    await sync(`${id}:there/`, `${back}/`)
    expect(await readFile(join(back, 'a file'), 'utf8')).toBe(text)
  })
})

/** The engine service that the server with this state directory started. */
function processOf(stateDir: string): number {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      if (line.includes('service') && line.includes(stateDir)) return Number(name)
    } catch {
      // It ended meanwhile.
    }
  }
  throw new Error('the server started no engine service')
}
