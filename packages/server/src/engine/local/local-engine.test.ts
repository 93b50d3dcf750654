import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { MemoryLog } from '../../testing/memory-log.ts'
import type { ContainerSpec, EngineListener } from '../container-engine.ts'
import { containerSpec } from '../suite/container-spec.ts'
import { Bubblewrap } from './bubblewrap.ts'
import { LocalEngine, type LocalEngineOptions } from './local-engine.ts'
import { UnshareSandbox } from './unshare-sandbox.ts'

/** In the place of the agent: runs what it is sent as a shell script, and answers with its output. */
const SHELL_AGENT = `
import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
if (process.env.DEAF) process.on('SIGTERM', () => {})
else process.on('SIGTERM', () => process.exit(0))
createServer({ allowHalfOpen: true }, async (socket) => {
  socket.on('error', () => {})
  const script = await text(socket)
  const code = /^exit ([0-9]+)$/.exec(script)
  if (code) process.exit(Number(code[1]))
  execFile('/bin/sh', ['-c', script], (error, stdout, stderr) => socket.end(stdout + stderr))
}).listen('/run/svc/agent.sock')
`

const isRoot = process.getuid?.() === 0
const sandboxes = [
  { name: 'bubblewrap', kind: Bubblewrap, found: await Bubblewrap.find(isRoot) },
  { name: 'unshare', kind: UnshareSandbox, found: await UnshareSandbox.find(isRoot) },
]

describe.each(sandboxes)('the local engine with $name', ({ kind, found }) => {
  beforeEach(({ skip }) => skip(!found, 'this machine does not let it make namespaces'))

  let agentDir: string
  let root: string
  let options: LocalEngineOptions
  let engine: LocalEngine

  beforeAll(async () => {
    agentDir = mkdtempSync(join(tmpdir(), 'agent-'))
    chmodSync(agentDir, 0o755)
    writeFileSync(join(agentDir, 'agent.mjs'), SHELL_AGENT)
    try {
      linkSync(process.execPath, join(agentDir, 'node'))
    } catch {
      await copyFile(process.execPath, join(agentDir, 'node')) // on another file system
    }
  })
  afterAll(() => rmSync(agentDir, { recursive: true }))

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'local-'))
    options = {
      stateDir: join(root, 'state'),
      dataDir: join(root, 'data'),
      agentDir,
      clock: systemClock,
      log: new MemoryLog(),
    }
    engine = await LocalEngine.open(options, [kind])
  })
  afterEach(async () => {
    for (const { id } of await engine.list()) await engine.remove(id, { graceSeconds: 0 })
    await engine.close()
    rmSync(root, { recursive: true })
  })

  const soon = () => AbortSignal.timeout(20_000)
  const specFor = (changes: Partial<ContainerSpec> = {}) => containerSpec({ hostname: 'trial-host', ...changes })
  const run = (changes?: Partial<ContainerSpec>) =>
    engine.run(specFor(changes), { signal: soon(), onCreated: async () => undefined })

  /** Runs a script in a workspace; answers its output. */
  async function inside(id: string, script: string, through = engine): Promise<string> {
    const socket = await through.connect(id, soon())
    socket.end(script)
    return (await text(socket)).trim()
  }

  async function deathsOf(watching: LocalEngine): Promise<string[]> {
    const deaths: string[] = []
    const listener: EngineListener = { died: ({ id }) => deaths.push(id), gap: () => undefined }
    watching.watch(listener, new AbortController().signal)
    return deaths
  }

  test('runs an agent, tells of it, and removes it with all that was made for it', async () => {
    const created: string[] = []
    const spec = specFor()
    const id = await engine.run(spec, { signal: soon(), onCreated: async (given) => void created.push(given) })
    expect(created).toEqual([id])
    expect(await inside(id, 'echo hello')).toBe('hello')
    const state = { id, workspaceId: spec.workspaceId, role: 'workspace', running: true, exitCode: undefined }
    expect(await engine.inspect(id)).toMatchObject(state)
    expect(await engine.list()).toMatchObject([state])
    await engine.remove(id, { graceSeconds: 5 })
    await engine.remove(id, { graceSeconds: 5 })
    expect(await engine.inspect(id)).toBeUndefined()
    expect(readdirSync(join(root, 'state/local'))).toEqual([])
    expect(readdirSync(join(root, 'state/agents'))).toEqual([])
    await expect(engine.connect(id, soon())).rejects.toMatchObject({ fault: 'not_running' })
  })

  test("gives the workspace its own home, name, user and processes, and hides the server's directories", async () => {
    const spec = specFor({ env: { QUOTED: `it's "$HOME"\nand more`, 'no name': 'x' } })
    const id = await engine.run(spec, { signal: soon(), onCreated: async () => undefined })
    expect(await inside(id, 'id -u; id -un; hostname; echo "$QUOTED"')).toBe(
      `1000\nsvc\ntrial-host\nit's "$HOME"\nand more`,
    )
    await inside(id, 'echo mine > /home/file; echo private > /tmp/file')
    expect(readFileSync(join(engine.homes.pathOf(spec.workspaceId), 'file'), 'utf8')).toBe('mine\n')
    expect(existsSync('/tmp/file')).toBe(false)
    const pids = (await inside(id, 'ls /proc')).split('\n').filter((name) => /^\d+$/.test(name))
    expect(pids.length).toBeLessThan(8)
    expect(await inside(id, `ls ${root} ${process.cwd()}`)).toContain('No such file')
    expect(await inside(id, 'touch /usr/x /etc/x /opt/svc/x')).toMatch(/(.*Read-only.*\n?){3}/)
    expect(await inside(id, 'grep -E "NoNewPrivs|CapEff" /proc/self/status')).toMatch(/0{16}\n.*\t1$/)
  })

  test('keeps its own environment and open files from a workspace', async () => {
    process.env.SVCD_TEST_SECRET = 'hidden'
    const id = await run()
    delete process.env.SVCD_TEST_SECRET
    expect(await inside(id, 'cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"')).not.toContain('hidden')
    expect(await inside(id, 'ls -l /proc/$PPID/fd')).not.toContain('svcd')
  })

  test('leaves a workspace without a network when it shall have none', async () => {
    const listInterfaces = `awk -F: 'NR > 2 { print $1 }' /proc/net/dev`
    expect(await inside(await run({ network: 'none' }), listInterfaces)).toBe('lo')
    const shared = await run({ network: 'isolated' })
    expect(await inside(shared, 'getent hosts host.containers.internal')).toContain('127.0.0.1')
  })

  test('mounts host directories and volumes, also below the home, and knows which volumes are held', async () => {
    const source = join(root, 'source')
    mkdirSync(source)
    writeFileSync(join(source, 'file'), 'from the host')
    const workspaceId = randomUUID()
    await engine.volumes.create('cache', workspaceId)
    const id = await run({
      workspaceId,
      mounts: [
        { kind: 'host', source, target: '/home/svc/source', readOnly: true },
        { kind: 'volume', name: 'cache', target: '/var/cache/things', readOnly: false },
      ],
    })
    expect(await inside(id, 'cat /home/svc/source/file; touch /home/svc/source/x')).toMatch(/from the host.*Read-only/)
    expect(await inside(id, 'touch /home/svc/beside /var/cache/things/x && echo done')).toBe('done')
    expect(await engine.volumes.remove('cache')).toBe(false)
    await engine.remove(id, { graceSeconds: 1 })
    expect(await engine.volumes.list()).toMatchObject([{ name: 'cache', workspaceId }])
    expect(await engine.volumes.remove('cache')).toBe(true)
    expect(await engine.volumes.find('cache')).toBeUndefined()
  })

  test('ends every process of a workspace, those that hide or do not listen too', async () => {
    const id = await run({ env: { DEAF: '1' } })
    const mark = `7${process.pid}77`
    await inside(id, `(trap '' TERM HUP; setsid sleep ${mark} >/dev/null 2>&1 &)`)
    await expect.poll(() => processesWith(mark)).toBe(1)
    const begunMs = Date.now()
    await engine.remove(id, { graceSeconds: 0.2 })
    expect(Date.now() - begunMs).toBeGreaterThanOrEqual(200)
    expect(processesWith(mark)).toBe(0)
  })

  test('tells of a death at once, and keeps the exit code', async () => {
    const id = await run()
    const deaths = await deathsOf(engine)
    await inside(id, 'exit 7')
    await expect.poll(() => deaths, { timeout: 900 }).toEqual([id])
    expect(await engine.inspect(id)).toMatchObject({ running: false, exitCode: 7 })
    await expect(engine.connect(id, soon())).rejects.toMatchObject({ fault: 'not_running' })
  })

  test('ends what is left when the process that stands for a workspace is killed', async () => {
    const id = await run()
    const deaths = await deathsOf(engine)
    const mark = `7${process.pid}78`
    await inside(id, `(setsid sleep ${mark} >/dev/null 2>&1 &)`)
    await expect.poll(() => processesWith(mark)).toBe(1)
    const record = JSON.parse(readFileSync(join(root, 'state/local', `${id.split('.')[0]}.json`), 'utf8'))
    process.kill(record.main.pid, 'SIGKILL')
    await expect.poll(() => deaths).toEqual([id])
    await expect.poll(() => processesWith(mark)).toBe(0)
  })

  test('finds workspaces again that a killed server left running', async () => {
    const spec = specFor()
    const script = `
      import { LocalEngine } from ${JSON.stringify(join(import.meta.dirname, 'local-engine.ts'))}
      import { systemClock } from ${JSON.stringify(join(import.meta.dirname, '../../kernel/clock.ts'))}
      const engine = await LocalEngine.open({ ...${JSON.stringify({ ...options, clock: undefined, log: undefined })}, clock: systemClock })
      const spec = ${JSON.stringify(spec)}
      spec.limits = {}
      await engine.run(spec, { signal: AbortSignal.timeout(20_000), onCreated: async () => {} })
      console.log('running')
      setInterval(() => {}, 1000)`
    const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => server.stdout.once('data', resolve))
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await ended
    const [found] = await engine.list()
    if (!found) throw new Error('nothing was found')
    expect(found).toMatchObject({ workspaceId: spec.workspaceId, running: true })
    const deaths = await deathsOf(engine)
    expect(await inside(found.id, 'echo still here')).toBe('still here')
    await inside(found.id, 'exit 3')
    await expect.poll(() => deaths).toEqual([found.id])
    expect(await engine.inspect(found.id)).toMatchObject({ running: false, exitCode: 3 })
  })

  test('takes no other process for a workspace because it has the same number', async () => {
    const id = await run()
    const file = join(root, 'state/local', `${id.split('.')[0]}.json`)
    const record = JSON.parse(readFileSync(file, 'utf8'))
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' })
    const other = { ...record.main, pid: bystander.pid }
    await engine.remove(id, { graceSeconds: 0 })
    writeFileSync(file, JSON.stringify({ ...record, main: other, init: other }))
    expect(await engine.inspect(id)).toMatchObject({ running: false })
    await engine.remove(id, { graceSeconds: 0 })
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
    bystander.kill()
  })

  test('leaves nothing behind when a start fails or is given up', async () => {
    const missing = { kind: 'host', source: join(root, 'missing'), target: '/mnt/x', readOnly: false } as const
    await expect(run({ mounts: [missing] })).rejects.toMatchObject({ name: 'EngineError', fault: 'failed' })
    const aborted = AbortSignal.abort(new Error('given up'))
    const onCreated = async () => undefined
    await expect(engine.run(specFor(), { signal: aborted, onCreated })).rejects.toThrow('given up')
    const mark = `given-up-${process.pid}`
    for (const afterMs of [0, 2, 5, 10, 20, 50]) {
      const late = new AbortController()
      systemClock.after(afterMs, () => late.abort(new Error('given up')))
      const outcome = await engine
        .run(specFor({ hostname: mark }), { signal: late.signal, onCreated })
        .catch((error: unknown) => error)
      // One that was quicker than we gave up is running, and ours to remove.
      if (typeof outcome === 'string') await engine.remove(outcome, { graceSeconds: 0 })
      else expect(outcome).toMatchObject({ message: 'given up' })
      expect(processesWith(mark)).toBe(0)
    }
    const refuses = async () => Promise.reject(new Error('cannot be written down'))
    await expect(engine.run(specFor(), { signal: soon(), onCreated: refuses })).rejects.toThrow('written down')
    expect(await engine.list()).toEqual([])
    expect(readdirSync(join(root, 'state/agents'))).toEqual([])
  })

  test('gives up waiting for an agent that does not come', async () => {
    const id = await run()
    await inside(id, 'rm /run/svc/agent.sock')
    await expect(engine.connect(id, AbortSignal.timeout(50))).rejects.toThrow('timeout')
  })

  test('reaches an agent however long the path of the state directory is', async () => {
    const stateDir = join(root, 'x'.repeat(100), 'state')
    const deep = await LocalEngine.open({ ...options, stateDir }, [kind])
    const id = await deep.run(specFor(), { signal: soon(), onCreated: async () => undefined })
    expect(await inside(id, 'echo here', deep)).toBe('here')
    await deep.remove(id, { graceSeconds: 1 })
    await deep.close()
  })
})

/** How many processes have this in their command line: the mark of a test. */
function processesWith(mark: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
    } catch {
      return false // it ended meanwhile
    }
  }).length
}
