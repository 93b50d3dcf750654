import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../app.ts'
import { loadSettings } from '../config/load-settings.ts'
import type { ContainerEngine } from '../engine/container-engine.ts'
import { Listener } from '../http/listener.ts'
import { systemClock } from '../kernel/clock.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import { engineAway } from './engine-away.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'
import { openSocket, type SocketClient, type SocketOptions } from './socket-client.ts'
import { rawRequest } from './start-http.ts'
import type { TestDatabase } from './storages.ts'

export interface ServerOptions {
  /** Of another kind than SQLite, or one that outlives the server. The test closes nothing. */
  readonly database?: TestDatabase
  readonly clock?: FakeClock
  /** Where settings, secrets and SQLite are kept; a folder of its own, removed at the end, unless given. */
  readonly folder?: string
  /** How often a password is hashed. More than usual where a test needs hashes that take their time. */
  readonly passwordIterations?: number
  /** Opens what workspaces run on. Unless given, no engine answers. */
  readonly openEngine?: (folder: string) => Promise<ContainerEngine>
}

/** Enough to be a hash, few enough for tests that sign in all the time. */
const PASSWORD_ITERATIONS = 500

/**
 * The whole service in this process: real settings, real database, real sockets; only the clock is the test's to move.
 * `env` holds settings by their variables. Dispose it when done.
 */
export async function startServer(env: Record<string, string> = {}, options: ServerOptions = {}) {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'svc-server-')))
  const dirs = { SVCD_STATE_DIR: folder, SVCD_DATA_DIR: folder, SVCD_CONFIG_DIR: folder }
  const load = async (more: Record<string, string>) =>
    (await loadSettings({ env: { ...dirs, ...env, ...more }, config: 'none' })).settings
  let settings = await load({})
  const clock = options.clock ?? new FakeClock()
  const log = new MemoryLog()
  const storage = options.database
    ? await options.database.open({ clock, logger: log })
    : await openSqlite({ dataDir: folder, clock, logger: log })
  const engine = (await options.openEngine?.(folder)) ?? engineAway(folder)
  const app = await createApp(() => settings, {
    storage,
    engine,
    clock,
    log,
    instanceId: '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11',
    dataDir: folder,
    signingSecret: 'only-for-tests-only-for-tests-only-for-tests',
    passwordIterations: options.passwordIterations ?? PASSWORD_ITERATIONS,
    build: () => ({ version: '1.2.3', commit: 'abc1234', built_at: '2026-01-01T00:00:00Z' }),
    webDir: join(folder, 'no-web-ui'),
    checkReplies: true,
  })
  await app.start()
  const listener = new Listener({ handler: app.handler, upgrade: app.upgrade, clock: systemClock, log })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const port = listener.port ?? 0
  const sockets: SocketClient[] = []
  let isOver = false
  async function end({ drains }: { drains: boolean }) {
    if (isOver) return
    isOver = true
    for (const socket of sockets) socket.terminate()
    await listener.close(0)
    if (drains) await app.drain()
    await app.stop()
    await engine.close()
    await storage.close()
  }
  return {
    app,
    engine,
    folder,
    clock,
    log,
    storage,
    port,
    /** As a reload does it: the given variables change, the others stay as they were at the start. */
    async reconfigure(more: Record<string, string>) {
      settings = await load(more)
      app.settingsChanged()
    },
    request: (method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
      rawRequest({ port, method, path, ...options }),
    /** A client of `/ws`, ended with the server at the latest; see `socket-client.ts`. */
    async socket(token: string | undefined, options: SocketOptions = {}): Promise<SocketClient> {
      const socket = await openSocket(port, token, options)
      sockets.push(socket)
      return socket
    },
    /** As after `kill -9`, for everybody outside: workspaces run on, and the next server finds them. */
    async crash() {
      await end({ drains: false })
    },
    async [Symbol.asyncDispose]() {
      await end({ drains: true })
      if (options.folder === undefined) await rm(folder, { recursive: true })
    },
  }
}
