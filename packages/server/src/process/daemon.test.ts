import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { DaemonProcess, daemonEnv, scratchFolder, startDaemon } from '../testing/start-daemon.ts'
import { rawRequest } from '../testing/start-http.ts'

/** Far more than the kernel keeps for a connection. */
const LARGE_BYTES = 64 * 1024 * 1024

const passwords = { SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_PASSWORD: 'correct horse battery' }

describe('a start that cannot work', () => {
  test.each<[string, Record<string, string | undefined>, string[]]>([
    ['no state directory', { SVCD_STATE_DIR: undefined }, ['SVCD_STATE_DIR must be set']],
    ['no data directory', { SVCD_DATA_DIR: undefined }, ['SVCD_DATA_DIR must be set']],
    ['a bad integer', { SVCD_PORT: 'eighty' }, ['SVCD_PORT', '1', '65535']],
    ['a bad command reference', { SVCD_JWT_SECRET: 'cmd:cat /no/such/secret' }, ['SVCD_JWT_SECRET']],
    ['no sign-in on a public address', { SVCD_LISTEN: '0.0.0.0', SVCD_PORT: '8123' }, ['SVCD_AUTH_MODES', 'loopback']],
    ['a sign-in mode that does not exist', { SVCD_AUTH_MODES: 'pasword' }, ['SVCD_AUTH_MODES', 'password']],
    [
      'an address this machine does not have',
      { SVCD_LISTEN: '203.0.113.1', ...passwords, SVCD_PORT: '8123' },
      ['203.0.113.1', 'SVCD_LISTEN'],
    ],
    [
      'no password for the first administrator',
      { SVCD_AUTH_MODES: 'password' },
      ['SVCD_DEFAULT_PASSWORD must be set: sign-in mode password needs it for the first administrator'],
    ],
    [
      'a weak password for the first administrator',
      { SVCD_AUTH_MODES: 'password', SVCD_DEFAULT_PASSWORD: 'short' },
      ['SVCD_DEFAULT_PASSWORD is not good enough: Password must be at least 8 characters'],
    ],
    ['a log file that cannot be written', { SVCD_LOG_FILE: '/proc/no/such/file' }, ['SVCD_LOG_FILE']],
  ])('%s: exit 78 and a message that names the setting', async (_, env, words) => {
    const folder = await scratchFolder()
    const daemon = new DaemonProcess({ ...daemonEnv(folder), ...env })
    expect([await daemon.exit(), daemon.stderr]).toEqual([78, expect.stringContaining('svcd: ')])
    for (const word of words) expect(daemon.stderr).toContain(word)
    expect(daemon.stderr).not.toContain('/no/such/secret')
    expect(daemon.stderr).not.toMatch(/^ {4}at /m) // no stack: the operator made a mistake, not we
  })

  test('all problems are told at once', async () => {
    const daemon = new DaemonProcess({ ...daemonEnv(await scratchFolder()), SVCD_PORT: '0', SVCD_API_RATE_LIMIT: '-1' })
    expect(await daemon.exit()).toBe(78)
    expect(daemon.stderr).toMatch(/SVCD_PORT[\s\S]*SVCD_API_RATE_LIMIT/)
  })

  test.each([
    [['frobnicate'], 'there is no command frobnicate'],
    [['--frobnicate'], 'frobnicate'],
    [['--config', '/no/such/file.yaml'], 'there is no file /no/such/file.yaml'],
    [['backup'], 'backup takes the name of the file'],
  ])('svcd %s: exit 2 and a way to the help', async (args, words) => {
    const daemon = new DaemonProcess(daemonEnv(await scratchFolder()), args)
    expect(await daemon.exit()).toBe(2)
    expect(daemon.stderr).toContain(words)
    expect(daemon.stderr).toContain('svcd --help')
  })

  test('a socket path that names a file of yours: exit 78, and the file is still there', async () => {
    const folder = await scratchFolder()
    const precious = join(folder, 'precious.db')
    await writeFile(precious, 'precious')
    const daemon = new DaemonProcess({ ...daemonEnv(folder), SVCD_SOCKET: precious })
    expect(await daemon.exit()).toBe(78)
    expect(daemon.stderr).toContain('is a file that is no socket; check SVCD_SOCKET')
    expect(await readFile(precious, 'utf8')).toBe('precious')
  })

  test.each(['SVCD_STATE_DIR', 'SVCD_DATA_DIR'])('a %s that cannot be written: exit 3, naming it', async (name) => {
    const daemon = new DaemonProcess({ ...daemonEnv(await scratchFolder()), [name]: '/proc/self/fd' })
    expect(await daemon.exit()).toBe(3)
    expect(daemon.stderr).toContain(`${name}: the directory /proc/self/fd cannot be used`)
  })

  test('an instance id that is none: exit 3, because it can be restored', async () => {
    const folder = await scratchFolder()
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'data/instance-id'), '')
    const daemon = new DaemonProcess(daemonEnv(folder))
    expect(await daemon.exit()).toBe(3)
    expect(daemon.stderr).toContain('does not hold an instance id')
  })

  test('a database that is none: exit 3, because another try may find it restored', async () => {
    const folder = await scratchFolder()
    await mkdir(join(folder, 'data'))
    await writeFile(join(folder, 'data/svc.db'), 'this is not a database, however long you look at it'.repeat(100))
    const daemon = new DaemonProcess(daemonEnv(folder))
    expect(await daemon.exit()).toBe(3)
    expect(daemon.stderr).toContain('svc.db')
  })

  test('a PostgreSQL that does not answer: exit 3, and the password stays secret', async () => {
    const env = { SVCD_DATABASE_URL: 'postgres://svc:hunter2-hunter2@127.0.0.1:1/svc' }
    const daemon = new DaemonProcess({ ...daemonEnv(await scratchFolder()), ...env })
    expect(await daemon.exit()).toBe(3)
    expect(daemon.stderr).toContain('127.0.0.1')
    expect(daemon.stderr).not.toContain('hunter2')
  })

  test('a second server on the same data directory: exit 1, naming the first', async () => {
    const folder = await scratchFolder()
    const { daemon: first } = await startDaemon(folder)
    const second = new DaemonProcess({ ...daemonEnv(folder), SVCD_STATE_DIR: join(folder, 'state') })
    expect(await second.exit()).toBe(1)
    expect(second.stderr).toContain(`Another svcd (process ${first.child.pid}) is using the data directory`)
  })

  test('a second server on the same private socket: exit 1', async () => {
    const folder = await scratchFolder()
    await startDaemon(folder)
    const second = new DaemonProcess({ ...daemonEnv(folder), SVCD_DATA_DIR: join(folder, 'other-data') })
    expect(await second.exit()).toBe(1)
    expect(second.stderr).toContain('in use by another server; stop it, or change SVCD_SOCKET')
  })
})

describe('a running server', () => {
  test('keeps its files to itself and its instance id across restarts', async () => {
    const folder = await scratchFolder()
    const first = await startDaemon(folder)
    const { instance } = (await first.request('GET', '/health')).json as { instance: string }
    for (const path of ['state', 'data', 'config']) {
      expect((await stat(join(folder, path))).mode & 0o077, path).toBe(0)
    }
    for (const path of ['data/svc.db', 'data/instance-id', 'data/svcd.lock', 'state/svcd.sock', 'config/svcd.yaml']) {
      expect((await stat(join(folder, path))).mode & 0o077, path).toBe(0)
    }
    first.daemon.kill('SIGTERM')
    await first.daemon.exit()
    const second = await startDaemon(folder)
    expect((await second.request('GET', '/health')).json).toMatchObject({ instance })
  })

  test('answers on its private socket too, and without a port on that alone', async () => {
    const folder = await scratchFolder()
    const daemon = new DaemonProcess(daemonEnv(folder))
    const socketPath = join(folder, 'state/svcd.sock')
    await expect.poll(() => daemon.stderr).toContain('listening on the private socket only')
    const answer = await rawRequest({ socketPath, method: 'GET', path: '/api/v1/version' })
    expect(answer.status).toBe(200)
  })

  test('TERM lets a request under way finish, takes no new one, cleans up and exits 0', async () => {
    const folder = await scratchFolder()
    const { daemon, request, finish } = await slowDownload(folder)
    daemon.kill('SIGTERM')
    await expect.poll(() => daemon.stderr).toContain('stopping (signal:SIGTERM)')
    await expect(request('GET', '/health')).rejects.toThrow('ECONNREFUSED')
    expect(await finish()).toBe(LARGE_BYTES)
    expect(await daemon.exit()).toBe(0)
    expect(existsSync(join(folder, 'state/svcd.sock'))).toBe(false)
    const { instance } = { instance: (await readFile(join(folder, 'data/instance-id'), 'utf8')).trim() }
    expect(existsSync(join(folder, `state/svc-${instance}.pid`))).toBe(false)
  })

  test('INT stops as well', async () => {
    const { daemon } = await startDaemon(await scratchFolder())
    daemon.kill('SIGINT')
    expect(await daemon.exit()).toBe(0)
  })

  test('a second signal does not wait any longer', async () => {
    const folder = await scratchFolder()
    const { daemon } = await slowDownload(folder)
    daemon.kill('SIGTERM')
    await expect.poll(() => daemon.stderr).toContain('stopping')
    daemon.kill('SIGTERM')
    expect(await daemon.exit()).toBe(1)
    expect(daemon.stderr).toContain('forces the end')
    expect(String(auditTrail(folder).at(-1)?.detail)).toContain('"reason":"forced-exit"')
  })

  test('half a request does not hold up the stop', async () => {
    const { daemon, port } = await startDaemon(await scratchFolder(), { SVCD_QUIESCE_TIMEOUT: '600' })
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('GET /health HTTP/1.1\r\nHost:')
    daemon.kill('SIGTERM')
    expect(await daemon.exit()).toBe(0)
  })

  test('told to stop while it waits for its address, it leaves nothing behind', async () => {
    const folder = await scratchFolder()
    const { port } = await startDaemon(await scratchFolder())
    const waiting = new DaemonProcess({ ...daemonEnv(folder), SVCD_PORT: String(port) })
    await expect.poll(() => waiting.stderr).toContain('is in use; trying again')
    waiting.kill('SIGTERM')
    expect(await waiting.exit()).toBe(0)
    expect(await readdir(join(folder, 'state'))).toEqual(['jwt-secret']) // made once, and kept
  })

  test('no signal is lost or deadly at any moment of the start', async () => {
    for (const path of ['state', 'data/instance-id', 'data/svc.db', 'state/svcd.sock']) {
      const folder = await scratchFolder()
      const daemon = new DaemonProcess({ ...daemonEnv(folder), SVCD_PORT: '' })
      await expect.poll(() => existsSync(join(folder, path)), { interval: 1 }).toBe(true)
      daemon.kill('SIGHUP')
      await expect.poll(() => daemon.stderr, { message: path }).toContain('reloaded')
      daemon.kill('SIGTERM')
      expect(await daemon.exit(), path).toBe(0)
    }
  })

  test('a reader of its output that goes away does not end it', async () => {
    const folder = await scratchFolder()
    const daemon = new DaemonProcess({ ...daemonEnv(folder), SVCD_PORT: '' })
    daemon.child.stdout?.destroy()
    await expect.poll(() => daemon.stderr).toContain('listening')
    daemon.kill('SIGTERM')
    expect(await daemon.exit()).toBe(0)
  })

  test('kill -9 leaves nothing in the way of the next start', async () => {
    const folder = await scratchFolder()
    const first = await startDaemon(folder)
    first.daemon.kill('SIGKILL')
    expect(await first.daemon.exit()).toBe('SIGKILL')
    expect(existsSync(join(folder, 'state/svcd.sock'))).toBe(true)
    const second = await startDaemon(folder)
    expect((await second.request('GET', '/health')).status).toBe(200)
  })

  test('without a built web interface it says so and serves the API', async () => {
    const folder = await scratchFolder()
    const { daemon, request } = await startDaemon(folder, { SVCD_FRONTEND_DIR: join(folder, 'nowhere') })
    expect((await request('GET', '/api/v1/version')).status).toBe(200)
    await expect.poll(() => daemon.stderr).toContain('there is no web interface in')
  })

  test('an uncaught fault is logged and ends the process with a code of its own', async () => {
    const fault = "process.on('SIGUSR2', () => { throw new Error('planned for the test') })"
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fault)}`
    const { daemon } = await startDaemon(await scratchFolder(), { NODE_OPTIONS })
    daemon.kill('SIGUSR2')
    expect(await daemon.exit()).toBe(70)
    expect(daemon.stderr).toMatch(/CRITICAL[\s\S]*uncaught fault[\s\S]*planned for the test/)
  })

  test('a database that is lost for good ends the process, so that it can be started anew', async () => {
    const breakWriter = `
      const { Worker } = await import('node:worker_threads')
      const { postMessage } = Worker.prototype
      let writer
      Worker.prototype.postMessage = function (...args) { writer = this; return postMessage.apply(this, args) }
      process.on('SIGUSR2', () => writer.terminate())`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(breakWriter)}`
    const { daemon } = await startDaemon(await scratchFolder(), { NODE_OPTIONS })
    daemon.kill('SIGUSR2')
    expect(await daemon.exit()).toBe(70)
    expect(daemon.stderr).toContain('the database writer stopped')
  })

  test('start, reload and stop are in the audit trail', async () => {
    const folder = await scratchFolder()
    const { daemon, url } = await startDaemon(folder)
    daemon.kill('SIGHUP')
    await expect.poll(() => daemon.stderr).toContain('reloaded')
    daemon.kill('SIGTERM')
    await daemon.exit()
    const rows = auditTrail(folder)
    expect(rows).toMatchObject([
      { event: 'user.create', target_type: 'user' },
      { event: 'app.start', target_type: 'app' },
      { event: 'app.reload', target_type: 'app' },
      { event: 'app.stop', target_type: 'app' },
    ])
    expect(JSON.parse(String(rows[1]?.detail))).toEqual({ version: 'dev', pid: daemon.child.pid, listener: `${url}/` })
    expect(JSON.parse(String(rows[3]?.detail))).toMatchObject({ pid: daemon.child.pid, reason: 'signal:SIGTERM' })
  })
})

describe('reload by HUP', () => {
  const productName = async (server: Awaited<ReturnType<typeof startDaemon>>) =>
    ((await server.request('GET', '/api/v1/config')).json as { product_name: string }).product_name

  test('takes the new settings over, and names those that wait for a restart', async () => {
    const folder = await scratchFolder()
    const server = await startDaemon(folder)
    await writeFile(join(folder, 'config/svcd.yaml'), 'product-name: Workbench\nlisten: 127.0.0.2\n')
    server.daemon.kill('SIGHUP')
    await expect.poll(() => productName(server)).toBe('Workbench')
    await expect.poll(() => server.daemon.stderr).toContain('only a restart applies it: SVCD_LISTEN')
  })

  test('another version file is read', async () => {
    const folder = await scratchFolder()
    const server = await startDaemon(folder)
    await writeFile(join(folder, 'version.json'), '{"version": "2.0.1", "commit": "c0ffee"}')
    await writeFile(join(folder, 'config/svcd.yaml'), `version_file: ${join(folder, 'version.json')}\n`)
    server.daemon.kill('SIGHUP')
    await expect
      .poll(async () => (await server.request('GET', '/api/v1/version')).json)
      .toMatchObject({ version: '2.0.1', commit: 'c0ffee', built_at: null })
  })

  test('an invalid file changes nothing', async () => {
    const folder = await scratchFolder()
    const server = await startDaemon(folder, { SVCD_PRODUCT_NAME: '' })
    await writeFile(join(folder, 'config/svcd.yaml'), 'product_name: Broken\napi_rate_limit: many\n')
    server.daemon.kill('SIGHUP')
    await expect.poll(() => server.daemon.stderr).toContain('the last good configuration stays in effect')
    expect(server.daemon.stderr).toContain('SVCD_API_RATE_LIMIT (api_rate_limit in the configuration file)')
    expect(await productName(server)).toBe('svc')
  })
})

test('a stop waits for the reload under way, and both get their audit row', async () => {
  const folder = await scratchFolder()
  const { daemon } = await startDaemon(folder)
  const gate = join(folder, 'gate')
  execFileSync('mkfifo', [gate])
  await writeFile(join(folder, 'config/svcd.yaml'), `product_name: "cmd:cat ${gate}"\n`)
  daemon.kill('SIGHUP')
  const opened = await open(gate, 'w') // resolves when the command of the reload reads
  daemon.kill('SIGTERM')
  await expect.poll(() => daemon.stderr).toContain('stopping')
  await opened.writeFile('Workbench')
  await opened.close()
  expect(await daemon.exit()).toBe(0)
  expect(auditTrail(folder).map((row) => row.event)).toEqual(['user.create', 'app.start', 'app.reload', 'app.stop'])
})

test('a reload whose file went missing is refused, and the server goes on', async () => {
  const folder = await scratchFolder()
  const file = join(folder, 'own.yaml')
  await writeFile(file, 'product_name: Workbench\n')
  const daemon = new DaemonProcess(daemonEnv(folder), ['--config', file])
  await expect.poll(() => daemon.stderr).toContain('listening')
  await rm(file)
  daemon.kill('SIGHUP')
  await expect.poll(() => daemon.stderr).toContain('the last good configuration stays in effect')
  daemon.kill('SIGTERM')
  expect(await daemon.exit()).toBe(0)
})

describe('commands beside the server', () => {
  test('settings prints each value with its source and masks secrets', async () => {
    const folder = await scratchFolder()
    const daemon = new DaemonProcess(
      { ...daemonEnv(folder), SVCD_PORT: '8123', SVCD_METRICS_TOKEN: 'do-not-print-me' },
      ['settings'],
    )
    expect(await daemon.exit()).toBe(0)
    expect(daemon.stdout).toMatch(/SVCD_PORT +8123 +environment/)
    expect(daemon.stdout).toMatch(/SVCD_METRICS_TOKEN +\*\*\*/)
    expect(daemon.stdout + daemon.stderr).not.toContain('do-not-print-me')
  })

  test('--help explains the commands and the exit codes', async () => {
    const daemon = new DaemonProcess({ PATH: process.env.PATH }, ['--help'])
    expect(await daemon.exit()).toBe(0)
    expect(daemon.stdout).toMatch(/svcd backup <file>[\s\S]*78 {2}a setting is wrong/)
  })

  test('a backup taken beside a running server can be started from', async () => {
    const folder = await scratchFolder()
    await startDaemon(folder)
    const copy = join(folder, 'copy.db')
    const backup = new DaemonProcess(daemonEnv(folder), ['backup', copy])
    expect([await backup.exit(), backup.stderr]).toEqual([0, ''])
    const restored = await scratchFolder()
    await mkdir(join(restored, 'data'))
    await writeFile(join(restored, 'data/svc.db'), await readFile(copy))
    const server = await startDaemon(restored)
    expect((await server.request('GET', '/health')).status).toBe(200)
    const again = new DaemonProcess(daemonEnv(folder), ['backup', copy])
    expect(await again.exit()).toBe(3)
    expect(again.stderr).toContain('copy.db')
  })
})

/** A server with a file too large for any socket buffer, and a client that has read only the beginning of it. */
async function slowDownload(folder: string) {
  const ui = join(folder, 'ui')
  await mkdir(join(ui, 'assets'), { recursive: true })
  await writeFile(join(ui, 'assets/large-1234.bin'), Buffer.alloc(LARGE_BYTES))
  const server = await startDaemon(folder, { SVCD_FRONTEND_DIR: ui })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /assets/large-1234.bin HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'readable')
  return {
    ...server,
    /** Reads the rest; answers how much came after the headers. */
    async finish(): Promise<number> {
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk)
      const answer = Buffer.concat(chunks)
      return answer.length - answer.indexOf('\r\n\r\n') - 4
    },
  }
}

function auditTrail(folder: string): Record<string, unknown>[] {
  const db = new DatabaseSync(join(folder, 'data/svc.db'), { readOnly: true })
  const rows = db.prepare('SELECT event, target_type, detail FROM audit_events ORDER BY id').all()
  db.close()
  return rows
}
