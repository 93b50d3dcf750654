/**
 * The process under test: a bare Fastify route and the same answer through our whole edge, each on a port of its own.
 * The edge signs the caller in the way a session does: an HMAC over the token, and one row read from the database.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Guard } from '@svc/server/http/guard'
import { createHttp } from '@svc/server/http/http-server'
import { Listener } from '@svc/server/http/listener'
import { systemClock } from '@svc/server/kernel/clock'
import { route } from '@svc/server/kernel/route'
import { Logging } from '@svc/server/logging/logging'
import { openSqlite } from '@svc/server/storage/sqlite/open-sqlite'
import fastify from 'fastify'
import { z } from 'zod'

const KEY = 'a key of the benchmark, thirty-two bytes or more'
const answer = { id: '5f733558-0fe0-43f7-b38d-ce93bd019191', email: 'ann@example.com', handle: 'ann' }
const Me = z.object({ id: z.uuid(), email: z.string(), handle: z.string() })

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const logging = new Logging({
  level: 'INFO',
  format: 'json',
  host: 'bench',
  instance: 'bench',
  clock: systemClock,
  secrets: () => [KEY],
})
const storage = await openSqlite({ dataDir: folder, clock: systemClock, logger: logging.root })
await storage.db
  .insertInto('audit_events')
  .values({
    event: 'login',
    actor_id: answer.id,
    actor_email: answer.email,
    target_type: null,
    target_id: null,
    detail: '{}',
    source_ip: null,
    user_agent: null,
    method: null,
    referer: null,
    created_at: 0,
  })
  .execute()

const guard: Guard = {
  async identify(headers) {
    const [head = '', body = '', tag = ''] = (headers.authorization ?? '').slice('Bearer '.length).split('.')
    const expected = createHmac('sha256', KEY).update(`${head}.${body}`).digest()
    const sent = Buffer.from(tag, 'base64url')
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return null
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as { row: number }
    const row = await storage.db.selectFrom('audit_events').selectAll().where('id', '=', claims.row).executeTakeFirst()
    return row?.actor_id ? { userId: row.actor_id, email: row.actor_email ?? '' } : null
  },
  authorize: async () => undefined,
}

const row = route({
  method: 'GET',
  path: '/me',
  tag: 'Bench',
  summary: 'Who is calling',
  needs: 'signed in',
  reply: Me,
  handle: ({ caller }) => ({ ...answer, email: caller.email }),
})
const settings = {
  listen: '127.0.0.1',
  port: undefined,
  tlsHostname: undefined,
  hostingHostname: undefined,
  hostingProto: undefined,
  hostingBasePath: undefined,
  apiRateLimit: 1_000_000_000, // counted, never reached
  trustedProxyCidrs: ['127.0.0.1', '::1'],
  rejectProxyHeaders: false,
  corsOrigins: undefined,
  cspConnectOrigins: [],
  frontendDir: undefined,
  metricsToken: undefined,
}
const edge = await createHttp({ routes: [row], settings: () => settings, guard, clock: systemClock, log: logging.root })

const bare = fastify({ logger: false })
bare.get('/api/v1/me', async () => answer)
await bare.ready()

async function serve(handler: typeof edge.routing): Promise<Listener> {
  const listener = new Listener({ handler, clock: systemClock, log: logging.root })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  return listener
}

const [edgeListener, bareListener] = [await serve(edge.routing), await serve(bare.routing)]
const body = Buffer.from(JSON.stringify({ row: 1 })).toString('base64url')
const signed = `eyJhbGciOiJIUzI1NiJ9.${body}`
const token = `${signed}.${createHmac('sha256', KEY).update(signed).digest('base64url')}`
process.send?.({ edge: edgeListener.port, bare: bareListener.port, token })

process.on('disconnect', async () => {
  await Promise.all([edgeListener.close(0), bareListener.close(0)])
  await storage.close()
  await logging.close()
  rmSync(folder, { recursive: true })
  process.exit(0)
})
