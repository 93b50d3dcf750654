import type { RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { buildHosting } from './app-hosting.ts'
import { buildLive } from './app-live.ts'
import { buildPeople } from './app-people.ts'
import { buildWorkspaces } from './app-workspaces.ts'
import type { Settings } from './config/settings.ts'
import type { Accounts } from './features/accounts/accounts.ts'
import type { AccessControl } from './features/acl/access-control.ts'
import type { Attachment } from './features/attachments/attachment.ts'
import type { Attachments } from './features/attachments/attachments.ts'
import { OpenWorkspaces } from './features/attachments/open-workspaces.ts'
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
import { HOSTED_ADDRESSES, type OutsideTheTable } from './http/hosted/hosted-proxy.ts'
import { createHttp } from './http/http-server.ts'
import type { UpgradeHandler } from './http/listener.ts'
import { withOpenApi } from './http/openapi-routes.ts'
import type { FrameTable } from './kernel/frame.ts'
import type { Route } from './kernel/route.ts'
import type { Ports } from './ports.ts'
import { edgeView, watchdogSettings } from './settings-views.ts'

export interface App {
  readonly routes: readonly Route[]
  readonly http: FastifyInstance
  /** Addresses that answer without a row, and who may use them: for tests that must know of all. */
  readonly outsideTheTable: readonly OutsideTheTable[]
  /** Every command of `/ws`, one row each. */
  readonly frames: FrameTable<Attachment>
  /** Answers every request. */
  readonly handler: RequestListener
  /** Takes every connection that is to be a socket. */
  readonly upgrade: UpgradeHandler
  readonly audit: AuditLog
  readonly accounts: Accounts
  readonly sessions: Sessions
  readonly access: AccessControl
  readonly groups: GroupService
  readonly lifecycle: Lifecycle
  readonly attachments: Attachments
  /** Throws when settings that are valid by themselves do not fit what is in the database. */
  checkSettings(settings: Settings): Promise<void>
  /** To be called after every reload. */
  settingsChanged(): void
  /** Throws `SeedRefused` when the settings allow no administrator. */
  start(): Promise<void>
  /** The server is about to end: everybody is told, and from now on no workspace is started. */
  announceEnd(): void
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
  const openWorkspaces = new OpenWorkspaces()
  const workspaces = buildWorkspaces(settings, ports, {
    audit,
    people,
    hasClients: (workspaceId) => openWorkspaces.hasClients(workspaceId),
  })
  const edge = edgeView(settings, ports.webDir)
  const watchdog = new Watchdog({ settings: () => watchdogSettings(settings()), clock, log: log.child('watchdog') })
  const metrics = new Metrics({
    build: build(),
    instanceId,
    auditWriteFailures: () => audit.writeFailures + workspaces.events.writeFailures,
  })
  const hosting = buildHosting(settings, ports, { people, features: workspaces, edge })
  const hosted = hosting.proxy(metrics.requestFinished)
  const live = buildLive(settings, ports, {
    people,
    workspaces,
    openWorkspaces,
    edge,
    hosted: (upgrade, facts) => void hosted.upgrade(upgrade, facts),
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
      ...hosting.routes,
    ],
    build().version,
  )
  const http = await createHttp({
    routes,
    settings: edge,
    guard: people.guard,
    clock,
    log,
    checkReplies: ports.checkReplies ?? false,
    onFinished: metrics.requestFinished,
  })
  return {
    routes,
    http,
    frames: live.frames,
    handler: hosted.handler(http.routing),
    outsideTheTable: [HOSTED_ADDRESSES],
    upgrade: live.upgrade,
    audit,
    accounts: people.accounts,
    sessions: people.sessions,
    access: people.access,
    groups: people.groups,
    lifecycle: workspaces.lifecycle,
    attachments: live.attachments,
    checkSettings: people.checkSettings,
    settingsChanged: live.settingsChanged,
    async start() {
      await people.start()
      await watchdog.start()
      live.begin()
      hosting.begin()
      await workspaces.start()
    },
    announceEnd() {
      live.announceEnd()
      workspaces.refuseStarts()
    },
    drain: workspaces.drain,
    async stop() {
      watchdog.stop()
      await live.end()
      await hosting.end()
      await http.close()
      await workspaces.stop()
      await people.stop()
    },
  }
}
