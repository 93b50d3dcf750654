import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { EdgeSettings } from '../http/edge-settings.ts'
import type { Guard } from '../http/guard.ts'
import { createHttp } from '../http/http-server.ts'
import { Listener } from '../http/listener.ts'
import { systemClock } from '../kernel/clock.ts'
import type { Route } from '../kernel/route.ts'
import { FakeClock } from './fake-clock.ts'
import { MemoryLog } from './memory-log.ts'

export const edgeDefaults: EdgeSettings = {
  listen: '127.0.0.1',
  port: undefined,
  tlsHostname: undefined,
  hostingHostname: undefined,
  hostingProto: undefined,
  hostingBasePath: undefined,
  apiRateLimit: 0,
  trustedProxyCidrs: ['127.0.0.1', '::1'],
  rejectProxyHeaders: false,
  corsOrigins: undefined,
  cspConnectOrigins: [],
  frontendDir: undefined,
  logoUrl: undefined,
  metricsToken: undefined,
  hostedAppsHostname: undefined,
}

/** Nobody is known to it. */
export const closedGuard: Guard = {
  identify: async () => null,
  authorize: async () => undefined,
}

export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: unknown
}

/** The HTTP side of the service on a port of its own, with rows of the test's choosing. Dispose it when done. */
export async function startHttp(parts: { routes: readonly Route[]; settings?: Partial<EdgeSettings>; guard?: Guard }) {
  const log = new MemoryLog()
  const clock = new FakeClock()
  let settings: EdgeSettings = { ...edgeDefaults, ...parts.settings }
  const guard = parts.guard ?? closedGuard
  const app = await createHttp({
    routes: parts.routes,
    settings: () => settings,
    guard,
    clock,
    log,
    checkReplies: true,
  })
  const listener = new Listener({ handler: app.routing, clock: systemClock, log })
  await listener.listen({ host: '127.0.0.1', port: 0 })
  const port = listener.port ?? 0
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    clock,
    set: (changed: Partial<EdgeSettings>) => {
      settings = { ...settings, ...changed }
    },
    request: (method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}) =>
      rawRequest({ port, method, path, ...options }),
    async [Symbol.asyncDispose]() {
      await listener.close(0)
      await app.close()
    },
  }
}

/** A request as it is written, without the manners of `fetch`: any header, any path. */
export function rawRequest(options: {
  port?: number
  socketPath?: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}): Promise<TestResponse> {
  const { body, headers, ...target } = options
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', agent: false, headers: { ...length, ...headers }, ...target },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== ''
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && !response.headers['content-encoding'] ? JSON.parse(text) : undefined,
          })
        })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}
