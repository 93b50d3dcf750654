import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { Reply, type Route, route } from '../../kernel/route.ts'

/** Seconds; dense where requests should be, sparse where they should not. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Numbers about the running server, for Prometheus. Labels are route patterns, never paths: they must stay few. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #requests: Histogram<'route' | 'method' | 'status'>

  constructor(parts: {
    build: { version: string; commit: string }
    instanceId: string
    auditWriteFailures: () => number
  }) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Histogram({
      name: 'svcd_http_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its answer',
      labelNames: ['route', 'method', 'status'],
      buckets: REQUEST_BUCKETS,
      registers,
    })
    new Gauge({
      name: 'svcd_info',
      help: 'Always 1; the labels say which build runs',
      labelNames: ['version', 'commit', 'instance'],
      registers,
    }).set({ version: parts.build.version, commit: parts.build.commit, instance: parts.instanceId }, 1)
    new Gauge({
      name: 'svcd_audit_write_failures',
      help: 'Audit rows that could not be written since the process started',
      registers,
      collect() {
        this.set(parts.auditWriteFailures())
      },
    })
  }

  readonly requestFinished = (routePath: string, method: string, status: number, seconds: number): void => {
    this.#requests.observe({ route: routePath, method, status }, seconds)
  }

  async text(): Promise<Reply> {
    return new Reply(await this.#registry.metrics(), { headers: { 'content-type': this.#registry.contentType } })
  }
}

export const metricsRoutes = (metrics: Metrics): Route[] => [
  route({
    method: 'GET',
    path: '/metrics',
    base: 'root',
    tag: 'Server',
    summary: 'Counters and timings for Prometheus',
    needs: 'operator',
    reply: { mediaType: 'text/plain', description: 'The Prometheus text format' },
    handle: () => metrics.text(),
  }),
]
