/**
 * The process under test: a bare Fastify route and the same answer through our whole edge, each on a port of its own.
 * The edge signs the caller in and checks a permission exactly as the service does, limits, logs and counts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Me } from '@svc/protocol/auth'
import { buildPeople } from '@svc/server/app-people'
import { loadSettings } from '@svc/server/config/load-settings'
import { AuditLog } from '@svc/server/features/audit/audit-log'
import { AuditStore } from '@svc/server/features/audit/audit-store'
import { Metrics } from '@svc/server/features/metrics/metrics'
import { createHttp } from '@svc/server/http/http-server'
import { Listener } from '@svc/server/http/listener'
import { systemClock } from '@svc/server/kernel/clock'
import { route } from '@svc/server/kernel/route'
import { Logging } from '@svc/server/logging/logging'
import { openSqlite } from '@svc/server/storage/sqlite/open-sqlite'
import { engineAway } from '@svc/server/testing/engine-away'
import { edgeDefaults } from '@svc/server/testing/start-http'
import fastify from 'fastify'

/** Besides the one whose requests are measured. */
const PEOPLE = 20
const SECRET = 'a key of the benchmark, thirty-two bytes or more'
const answer = { id: '5f733558-0fe0-43f7-b38d-ce93bd019191', email: 'ann@example.com', handle: 'ann' }
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const logging = new Logging({
  level: 'INFO',
  format: 'text', // the default
  host: 'bench',
  instance: 'bench',
  clock: systemClock,
  secrets: () => [SECRET],
})
const log = logging.root

const env = {
  SVCD_STATE_DIR: folder,
  SVCD_DATA_DIR: folder,
  SVCD_CONFIG_DIR: folder,
  SVCD_AUTH_MODES: 'password',
  SVCD_DEFAULT_USER: answer.email,
  SVCD_DEFAULT_PASSWORD: process.argv[2] ?? 'the password of the benchmark',
  SVCD_LOGIN_LOCKOUT_FAILURES: '0',
}
const { settings } = await loadSettings({ env, config: 'none' })
const storage = await openSqlite({ dataDir: folder, clock: systemClock, logger: log })
const audit = new AuditLog({ store: new AuditStore(storage), clock: systemClock, log })
const build = { version: 'bench', commit: 'bench', built_at: null }
const people = buildPeople(
  () => settings,
  {
    storage,
    engine: engineAway(folder),
    clock: systemClock,
    log,
    instanceId: 'bench',
    dataDir: folder,
    signingSecret: SECRET,
    build: () => build,
    webDir: folder,
  },
  audit,
)
await people.start()
// Everybody has the password of the first: making twenty hashes would take longer than the bench.
const first = await people.accounts.findByEmail(answer.email)
await storage.transaction(async (tx) => {
  for (let n = 0; n < PEOPLE; n++) {
    const passwordHash = first?.passwordHash ?? null
    await people.accounts.create(tx, { email: `person-${n}@example.com`, verified: true, passwordHash })
  }
})

const row = route({
  method: 'GET',
  path: '/me',
  tag: 'Bench',
  summary: 'Who is calling, for those who may manage users',
  needs: { permission: 'manage-users', on: '/users' },
  reply: Me,
  handle: ({ caller }) => ({ ...answer, email: caller.email }),
})
const edgeSettings = { ...edgeDefaults, apiRateLimit: 1_000_000_000 } // counted, never reached
const metrics = new Metrics({ build, instanceId: 'bench', auditWriteFailures: () => 0 })
const edge = await createHttp({
  routes: [row, ...people.routes],
  settings: () => edgeSettings,
  guard: people.guard,
  clock: systemClock,
  log,
  onFinished: metrics.requestFinished,
})

const bare = fastify({ logger: false })
bare.get('/api/v1/me', async () => answer)
await bare.ready()

async function serve(handler: typeof edge.routing): Promise<Listener> {
  const listener = new Listener({ handler, clock: systemClock, log })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  return listener
}

const [edgeListener, bareListener] = [await serve(edge.routing), await serve(bare.routing)]
process.send?.({ edge: edgeListener.port, bare: bareListener.port })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.on('disconnect', async () => {
  await Promise.all([edgeListener.close(0), bareListener.close(0)])
  await people.stop()
  await storage.close()
  await logging.close()
  rmSync(folder, { recursive: true })
  process.exit(0)
})
