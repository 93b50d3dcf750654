import type { FastifyInstance } from 'fastify'
import type { Settings } from './config/settings.ts'
import { AuditLog } from './features/audit/audit-log.ts'
import { auditRoutes } from './features/audit/audit-routes.ts'
import { AuditStore } from './features/audit/audit-store.ts'
import { healthRoutes } from './features/health/health-routes.ts'
import { instanceRoutes } from './features/instance/instance-routes.ts'
import type { Build } from './features/instance/version.ts'
import { Metrics, metricsRoutes } from './features/metrics/metrics.ts'
import { Watchdog, type WatchdogSettings } from './features/watchdog/watchdog.ts'
import type { EdgeSettings } from './http/edge-settings.ts'
import type { Guard } from './http/guard.ts'
import { createHttp } from './http/http-server.ts'
import { withOpenApi } from './http/openapi-routes.ts'
import type { Clock } from './kernel/clock.ts'
import type { Logger } from './kernel/logger.ts'
import type { Route } from './kernel/route.ts'
import type { Storage } from './storage/storage.ts'

/** The outside parts the service is built from. */
export interface Ports {
  readonly storage: Storage
  readonly clock: Clock
  readonly log: Logger
  readonly instanceId: string
  /** Asked each time: a reload may name another version file. */
  readonly build: () => Build
  /** Where the built web UI is, unless a setting says otherwise. */
  readonly webDir: string
  readonly checkReplies?: boolean
}

export interface App {
  readonly routes: readonly Route[]
  readonly http: FastifyInstance
  readonly audit: AuditLog
  start(): Promise<void>
  /** Reverse of `start`. Listeners are closed before, storage is closed after; both belong to the process. */
  stop(): Promise<void>
}

/** Builds the whole service from its outside parts. Nothing else constructs a service. */
export async function createApp(settings: () => Settings, ports: Ports): Promise<App> {
  const { storage, clock, log, instanceId, build } = ports
  const audit = new AuditLog({ store: new AuditStore(storage), clock, log: log.child('audit') })
  const watchdog = new Watchdog({ settings: () => watchdogSettings(settings()), clock, log: log.child('watchdog') })
  const metrics = new Metrics({ build: build(), instanceId, auditWriteFailures: () => audit.writeFailures })
  const routes = withOpenApi(
    [
      ...healthRoutes({
        instanceId,
        resources: () => watchdog.latest,
        auditFailing: () => audit.failedWithin(settings().capacity.watchdogPollIntervalSeconds * 1000),
      }),
      ...auditRoutes(audit, () => settings().audit.failClosed),
      ...instanceRoutes({ instanceId, build, settings }),
      ...metricsRoutes(metrics),
    ],
    build().version,
  )
  const http = await createHttp({
    routes,
    settings: edgeView(settings, ports.webDir),
    guard: noSignInYet,
    clock,
    log,
    checkReplies: ports.checkReplies ?? false,
    onFinished: metrics.requestFinished,
  })
  return {
    routes,
    http,
    audit,
    start: () => watchdog.start(),
    async stop() {
      watchdog.stop()
      await http.close()
    },
  }
}

/** There are no accounts yet, so nobody is signed in and nobody may do what needs a sign-in. */
const noSignInYet: Guard = {
  identify: async () => null,
  authorize: async () => {
    throw new Error('nobody can be signed in')
  },
}

/** The edge's view of the settings, made once for each change and not for each request. */
function edgeView(settings: () => Settings, webDir: string): () => EdgeSettings {
  let source: Settings | undefined
  let view: EdgeSettings | undefined
  return () => {
    const current = settings()
    if (view === undefined || source !== current) {
      source = current
      view = edgeSettings(current, webDir)
    }
    return view
  }
}

function edgeSettings({ network, hosting, tls, directories, branding }: Settings, webDir: string): EdgeSettings {
  return {
    listen: network.listen,
    port: network.port,
    tlsHostname: tls.hostname,
    hostingHostname: hosting.hostname,
    hostingProto: hosting.proto,
    hostingBasePath: hosting.basePath,
    apiRateLimit: network.apiRateLimit,
    trustedProxyCidrs: network.trustedProxyCidrs,
    rejectProxyHeaders: network.rejectProxyHeaders,
    corsOrigins: network.corsOrigins,
    cspConnectOrigins: network.cspConnectOrigins,
    frontendDir: directories.frontendDir ?? webDir,
    logoUrl: branding.logoUrl,
    metricsToken: network.metricsToken,
  }
}

function watchdogSettings({ capacity, directories }: Settings): WatchdogSettings {
  return {
    enabled: capacity.watchdogEnabled,
    pollIntervalSeconds: capacity.watchdogPollIntervalSeconds,
    paths: [directories.dataDir, directories.stateDir, ...capacity.diskPaths],
    disk: { warnPercent: capacity.diskWarnPercent, criticalPercent: capacity.diskCriticalPercent },
    memory: {
      enabled: capacity.memoryWatchdogEnabled,
      warnPercent: capacity.memoryWarnPercent,
      criticalPercent: capacity.memoryCriticalPercent,
    },
    cpu: {
      enabled: capacity.cpuWatchdogEnabled,
      warnPercent: capacity.cpuWarnPercent,
      criticalPercent: capacity.cpuCriticalPercent,
    },
  }
}
