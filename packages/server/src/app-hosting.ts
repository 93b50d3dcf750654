import type { People } from './app-people.ts'
import type { WorkspaceFeatures } from './app-workspaces.ts'
import type { Settings } from './config/settings.ts'
import { HostedPasses } from './features/hosting/hosted-passes.ts'
import { HostedVisitors } from './features/hosting/hosted-visitors.ts'
import { Hosting } from './features/hosting/hosting.ts'
import { hostingRoutes } from './features/hosting/hosting-routes.ts'
import { LiveSessions } from './features/hosting/live-sessions.ts'
import { OpenVisits } from './features/hosting/open-visits.ts'
import { PublicMarks } from './features/hosting/public-marks.ts'
import { Revocations } from './features/hosting/revocations.ts'
import { publish } from './features/lifecycle/container-network.ts'
import type { OnFinished } from './http/access-log.ts'
import type { EdgeSettings } from './http/edge-settings.ts'
import { HostedProxy } from './http/hosted/hosted-proxy.ts'
import { Background } from './kernel/background.ts'
import type { Ports } from './ports.ts'

interface Parts {
  readonly people: People
  readonly features: WorkspaceFeatures
  readonly edge: () => EdgeSettings
}

/** The part of the composition root that deals with the applications in workspaces. */
export function buildHosting(settings: () => Settings, ports: Ports, { people, features, edge }: Parts) {
  const { clock, engine } = ports
  const { accounts, access, guard, sessions, tokens } = people
  const { workspaces, lifecycle } = features
  const log = ports.log.child('hosting')
  const background = new Background(log)
  const open = new OpenVisits()
  const publicMarks = new PublicMarks(workspaces)
  const live = new LiveSessions({ sessions, clock })
  const passes = new HostedPasses({ tokens, clock })
  const visitors = new HostedVisitors({ guard, tokens, sessions, live, passes, access })
  const revocations = new Revocations({
    sessions,
    accounts,
    access,
    workspaces,
    visitors,
    live,
    open,
    publicMarks,
    background,
    clock,
  })
  const hosting = new Hosting({
    settings: () => settings().hosting,
    workspaces,
    lifecycle,
    ports: features.hostedPorts,
    publish: (hostPorts) => publish(hostPorts, engine.supports),
    visitors,
    passes,
    publicMarks,
    open,
    revocations,
  })

  return {
    routes: hostingRoutes(hosting),
    /** Not a route: it answers every method, and leaves bodies as they are. */
    proxy: (onFinished: OnFinished) =>
      new HostedProxy({ apps: hosting, settings: edge, clock, log: ports.log, onFinished }),
    begin: () => revocations.begin(),
    async end() {
      revocations.end()
      await background.settled()
    },
  }
}
