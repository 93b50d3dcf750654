import type { FastifyInstance } from 'fastify'
import { buildPeople } from './app-people.ts'
import { buildWorkspaces } from './app-workspaces.ts'
import type { Settings } from './config/settings.ts'
import type { Accounts } from './features/accounts/accounts.ts'
import type { AccessControl } from './features/acl/access-control.ts'
import { AuditLog } from './features/audit/audit-log.ts'
import { auditRoutes } from './features/audit/audit-routes.ts'
import { AuditStore } from './features/audit/audit-store.ts'
import type { GroupService } from './features/groups/group-service.ts'
import { healthRoutes } from './features/health/health-routes.ts'
import { instanceRoutes } from './features/instance/instance-routes.ts'
import type { Lifecycle } from './features/lifecycle/lifecycle.ts'
import { Metrics, metricsRoutes } from './features/metrics/metrics.ts'
import type { Sessions } from './features/sessions/sessions.ts'
import { Watchdog } from './features/watchdog/watchdog.ts'
import { createHttp } from './http/http-server.ts'
import { withOpenApi } from './http/openapi-routes.ts'
import type { Route } from './kernel/route.ts'
import type { Ports } from './ports.ts'
import { edgeView, watchdogSettings } from './settings-views.ts'

export interface App {
  readonly routes: readonly Route[]
  readonly http: FastifyInstance
  readonly audit: AuditLog
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly access: AccessControl
  readonly groups: GroupService
  readonly lifecycle: Lifecycle
  /** Throws when settings that are valid by themselves do not fit what is in the database. */
  checkSettings(settings: Settings): Promise<void>
  /** Throws `SeedRefused` when the settings allow no administrator. */
  start(): Promise<void>
  /** From now on no workspace is started: the server is about to end. */
  refuseStarts(): void
  /** Stops every workspace: an orderly end leaves none running. */
  drain(): Promise<void>
  /** Reverse of `start`. Listeners are closed before, storage is closed after; both belong to the process. */
  stop(): Promise<void>
}

/** Builds the whole service from its outside parts. Nothing else constructs a service. */
export async function createApp(settings: () => Settings, ports: Ports): Promise<App> {
  const { storage, clock, log, instanceId, build } = ports
  const audit = new AuditLog({ store: new AuditStore(storage), clock, log: log.child('audit') })
  const people = buildPeople(settings, ports, audit)
  const workspaces = buildWorkspaces(settings, ports, { audit, people })
  const watchdog = new Watchdog({ settings: () => watchdogSettings(settings()), clock, log: log.child('watchdog') })
  const metrics = new Metrics({
    build: build(),
    instanceId,
    auditWriteFailures: () => audit.writeFailures + workspaces.events.writeFailures,
  })
  const routes = withOpenApi(
    [
      ...healthRoutes({
        instanceId,
        resources: () => watchdog.latest,
        auditFailing: () => {
          const windowMs = settings().capacity.watchdogPollIntervalSeconds * 1000
          return audit.failedWithin(windowMs) || workspaces.events.failedWithin(windowMs)
        },
      }),
      ...auditRoutes({
        audit,
        containerWriteFailures: () => workspaces.events.writeFailures,
        failClosed: () => settings().audit.failClosed,
      }),
      ...instanceRoutes({ instanceId, build, settings }),
      ...metricsRoutes(metrics),
      ...people.routes,
      ...workspaces.routes,
    ],
    build().version,
  )
  const http = await createHttp({
    routes,
    settings: edgeView(settings, ports.webDir),
    guard: people.guard,
    clock,
    log,
    checkReplies: ports.checkReplies ?? false,
    onFinished: metrics.requestFinished,
  })
  return {
    routes,
    http,
    audit,
    accounts: people.accounts,
    sessions: people.sessions,
    access: people.access,
    groups: people.groups,
    lifecycle: workspaces.lifecycle,
    checkSettings: people.checkSettings,
    async start() {
      await people.start()
      await watchdog.start()
      await workspaces.start()
    },
    refuseStarts: workspaces.refuseStarts,
    drain: workspaces.drain,
    async stop() {
      watchdog.stop()
      await http.close()
      await workspaces.stop()
      await people.stop()
    },
  }
}
