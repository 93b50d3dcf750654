import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EdgeSettings } from '../http/edge-settings.ts'
import type { HostedApps, HostedVisit } from '../http/hosted/hosted-apps.ts'
import { HostedProxy } from '../http/hosted/hosted-proxy.ts'
import { Listener } from '../http/listener.ts'
import { FactsFactory } from '../http/request-facts.ts'
import { systemClock } from '../kernel/clock.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'
import { edgeDefaults, rawRequest } from './start-http.ts'

export const HOSTED_WORKSPACE = '3f0f5a1e-1111-4222-8333-444455556666'

/** An application on a port of this machine, as one in a workspace would be. Dispose it when done. */
export async function startApp(handler: RequestListener, port = 0) {
  const app: Server = createServer(handler)
  app.listen(port, '127.0.0.1')
  await once(app, 'listening')
  return {
    app,
    port: (app.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      app.closeAllConnections()
      app.close()
      await once(app, 'close')
    },
  }
}

/** The proxy before an application that everybody may use, and that is public to whom shows nothing. Paths are below the application's. Dispose it when done. */
export async function startHosted(handler: RequestListener, settings: Partial<EdgeSettings> = {}) {
  const { app, port: hostPort, ...upstream } = await startApp(handler)
  const clock = new FakeClock()
  const log = new MemoryLog()
  const finished: string[] = []
  const visits: HostedVisit[] = []
  const counts = { open: 0, touched: 0 }
  const revoked = new AbortController()
  const apps: HostedApps = {
    isOffered: () => true,
    async admit(visit) {
      visits.push(visit)
      counts.open++
      return {
        containerPort: 8000,
        isPublic: visit.tokens.length + visit.cookies.length === 0,
        ownTokens: new Set(visit.tokens.filter((token) => token.startsWith('ours'))),
        revoked: revoked.signal,
        touch: () => counts.touched++,
        entryCode: async () => 'code',
        end: () => counts.open--,
      }
    },
    enter: async () => undefined,
  }
  const edge = () => ({ ...edgeDefaults, hostingHostname: 'svc.example.com', ...settings })
  const proxy = new HostedProxy({
    apps,
    settings: edge,
    clock,
    log,
    onFinished: (route, method, status) => finished.push(`${method} ${route} ${status}`),
  })
  const facts = new FactsFactory(edge, log)
  const listener = new Listener({
    handler: proxy.handler((_, response) => void response.end('not hosted')),
    upgrade: (upgrade) => void proxy.upgrade(upgrade, facts.of(upgrade.request, 'id')),
    clock: systemClock,
    log,
  })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const port = listener.port ?? 0
  const prefix = `/hosted/${HOSTED_WORKSPACE}/${hostPort}`
  return {
    app,
    port,
    hostPort,
    prefix,
    clock,
    log,
    finished,
    visits,
    counts,
    revoked,
    request: (method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
      rawRequest({ port, method, path: `${prefix}${path}`, ...options }),
    async [Symbol.asyncDispose]() {
      await listener.close(0)
      await upstream[Symbol.asyncDispose]()
    },
  }
}
