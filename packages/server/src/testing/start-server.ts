import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../app.ts'
import { loadSettings } from '../config/load-settings.ts'
import { Listener } from '../http/listener.ts'
import { systemClock } from '../kernel/clock.ts'
import { openSqlite } from '../storage/sqlite/open-sqlite.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'
import { rawRequest } from './start-http.ts'

/**
 * The whole service in this process: real settings, real database, real sockets; only the clock is the test's to move.
 * `env` holds settings by their variables. Dispose it when done.
 */
export async function startServer(env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-server-'))
  const dirs = { SVCD_STATE_DIR: folder, SVCD_DATA_DIR: folder, SVCD_CONFIG_DIR: folder }
  const { settings } = await loadSettings({ env: { ...dirs, ...env }, config: 'none' })
  const clock = new FakeClock()
  const log = new MemoryLog()
  const storage = await openSqlite({ dataDir: folder, clock, logger: log })
  const app = await createApp(() => settings, {
    storage,
    clock,
    log,
    instanceId: '9d2c8f54-0c44-4f0e-9a3c-0a6d5f3b7a11',
    build: () => ({ version: '1.2.3', commit: 'abc1234', built_at: '2026-01-01T00:00:00Z' }),
    webDir: join(folder, 'no-web-ui'),
    checkReplies: true,
  })
  await app.start()
  const listener = new Listener({ handler: app.http.routing, clock: systemClock, log })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const port = listener.port ?? 0
  return {
    app,
    clock,
    log,
    storage,
    request: (method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
      rawRequest({ port, method, path, ...options }),
    async [Symbol.asyncDispose]() {
      await listener.close(0)
      await app.stop()
      await storage.close()
      await rm(folder, { recursive: true })
    },
  }
}
