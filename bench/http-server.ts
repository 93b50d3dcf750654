/**
 * The process under test: a bare Fastify route and the same answer through our whole edge, each on a port of its own.
 * The edge signs the caller in as it will with sessions: it looks the token up in memory, limits, logs and checks.
 */
import { hash } from 'node:crypto'
import { Metrics } from '@svc/server/features/metrics/metrics'
import type { Guard } from '@svc/server/http/guard'
import { createHttp } from '@svc/server/http/http-server'
import { Listener } from '@svc/server/http/listener'
import { systemClock } from '@svc/server/kernel/clock'
import { route } from '@svc/server/kernel/route'
import { Logging } from '@svc/server/logging/logging'
import { edgeDefaults } from '@svc/server/testing/start-http'
import fastify from 'fastify'
import { z } from 'zod'

const KEY = 'a key of the benchmark, thirty-two bytes or more'
const answer = { id: '5f733558-0fe0-43f7-b38d-ce93bd019191', email: 'ann@example.com', handle: 'ann' }
const Me = z.object({ id: z.uuid(), email: z.string(), handle: z.string() })

const logging = new Logging({
  level: 'INFO',
  format: 'text', // the default
  host: 'bench',
  instance: 'bench',
  clock: systemClock,
  secrets: () => [KEY],
})

/** Sessions by the digest of their token, as a server keeps them in memory beside the database. */
const sessions = new Map<string, { userId: string; email: string; expiresMs: number }>()

const guard: Guard = {
  async identify(headers) {
    const token = (headers.authorization ?? '').slice('Bearer '.length)
    const session = sessions.get(hash('sha256', token, 'base64'))
    return session && session.expiresMs > systemClock.nowMs() ? session : null
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
const settings = { ...edgeDefaults, apiRateLimit: 1_000_000_000 } // counted, never reached
const metrics = new Metrics({
  build: { version: 'bench', commit: 'bench' },
  instanceId: 'bench',
  auditWriteFailures: () => 0,
})
const edge = await createHttp({
  routes: [row],
  settings: () => settings,
  guard,
  clock: systemClock,
  log: logging.root,
  onFinished: metrics.requestFinished,
})

const bare = fastify({ logger: false })
bare.get('/api/v1/me', async () => answer)
await bare.ready()

async function serve(handler: typeof edge.routing): Promise<Listener> {
  const listener = new Listener({ handler, clock: systemClock, log: logging.root })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  return listener
}

const [edgeListener, bareListener] = [await serve(edge.routing), await serve(bare.routing)]
const token = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ sub: answer.id })).toString('base64url')}.tag`
sessions.set(hash('sha256', token, 'base64'), { userId: answer.id, email: answer.email, expiresMs: Infinity })
process.send?.({ edge: edgeListener.port, bare: bareListener.port, token })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.on('disconnect', async () => {
  await Promise.all([edgeListener.close(0), bareListener.close(0)])
  await logging.close()
  process.exit(0)
})
