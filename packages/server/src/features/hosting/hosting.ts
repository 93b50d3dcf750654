import type { PublishedPort } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import { appsAuthority, HOSTED_ENTRY, hostedPath } from '../../kernel/hosted-address.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { HostedPorts } from '../ports/hosted-ports.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { HostedPasses, Pass } from './hosted-passes.ts'
import type { HostedVisitors, Shown, Visitor } from './hosted-visitors.ts'
import type { OpenVisits } from './open-visits.ts'
import type { PublicMarks } from './public-marks.ts'
import type { Revocations } from './revocations.ts'

export interface HostingSettings {
  /** 0 turns hosting off. */
  readonly portsPerWorkspace: number
  readonly appsHostname: string | undefined
}

interface HostingParts {
  readonly settings: () => HostingSettings
  readonly workspaces: Pick<Workspaces, 'require'>
  readonly lifecycle: Pick<Lifecycle, 'find' | 'status'>
  readonly ports: Pick<HostedPorts, 'find'>
  /** Which port inside belongs to each port of the host. */
  readonly publish: (hostPorts: readonly number[]) => readonly PublishedPort[]
  readonly visitors: HostedVisitors
  readonly passes: HostedPasses
  readonly publicMarks: Pick<PublicMarks, 'has'>
  readonly open: OpenVisits
  readonly revocations: Pick<Revocations, 'count' | 'review'>
}

interface Visit extends Shown {
  readonly hostPort: number
}

/** A port of a workspace, and where a browser opens what listens there. */
export interface HostedAddress {
  readonly hostPort: number
  readonly containerPort: number
  readonly url: string
}

/** Who may use what workspaces host. */
export class Hosting {
  readonly #parts: HostingParts

  constructor(parts: HostingParts) {
    this.#parts = parts
  }

  isOffered(): boolean {
    return this.#parts.settings().portsPerWorkspace > 0
  }

  /**
   * Who has shown nothing good is told so before anything is looked up, and who may not join the workspace is told
   * only that: neither learns which workspaces and ports there are.
   */
  async admit(visit: Visit) {
    const { lifecycle, visitors, passes, open, revocations } = this.#parts
    if (!this.isOffered()) throw notFound()
    const { workspaceId } = visit
    const changesBefore = revocations.count
    const own = await visitors.ownOf(visit.tokens)
    const visitor = (await this.isPublic(workspaceId)) ? undefined : await this.#requireVisitor(visit, own.values())
    const containerPort = await this.#requirePort(visit)
    const opened = open.add(workspaceId, visitor)
    // Somebody's right may have gone while all this was looked up, and nobody was there to be told.
    if (revocations.count !== changesBefore) revocations.review([opened])
    return {
      containerPort,
      isPublic: visitor === undefined,
      ownTokens: new Set(own.keys()),
      revoked: opened.gone.signal,
      touch: () => lifecycle.find(workspaceId)?.touch(),
      entryCode: async () => visitor && passes.entry(workspaceId, visitor),
      end: () => open.remove(opened),
    }
  }

  /** The cookie for somebody who comes with an entry code. What they may do is asked with the next request. */
  async enter(workspaceId: string, code: string): Promise<Pass | undefined> {
    const visitor = await this.#parts.passes.takeEntry(workspaceId, code)
    return visitor && this.#parts.passes.cookie(workspaceId, visitor)
  }

  /** For a browser whose user may join the workspace. */
  grant(workspaceId: string, visitor: Visitor): Promise<Pass> {
    return this.#parts.passes.cookie(workspaceId, visitor)
  }

  /** None while the workspace is stopped. */
  async addresses(workspaceId: string, visitor: Visitor, externalUrl: string): Promise<HostedAddress[]> {
    const { lifecycle, publish, passes, settings } = this.#parts
    const apart = appsAuthority(workspaceId, externalUrl, settings().appsHostname)
    const addresses = publish(lifecycle.status({ id: workspaceId }).ports).map(async ({ host, container }) => {
      const url = new URL(hostedPath(externalUrl, workspaceId, host), externalUrl)
      if (apart !== undefined) {
        url.host = apart
        url.searchParams.set(HOSTED_ENTRY, await passes.entry(workspaceId, visitor))
      }
      return { hostPort: host, containerPort: container, url: url.href }
    })
    return Promise.all(addresses)
  }

  async requireOffered(workspaceId: string): Promise<void> {
    if (!this.isOffered()) throw notFound()
    await this.#parts.workspaces.require(workspaceId)
  }

  isPublic(workspaceId: string): Promise<boolean> {
    return this.#parts.publicMarks.has(workspaceId)
  }

  async #requireVisitor(visit: Visit, own: Parameters<HostedVisitors['find']>[1]): Promise<Visitor> {
    const visitor = await this.#parts.visitors.find(visit, own)
    if (!visitor) throw new AppError('not_authenticated', 'Not authenticated')
    await this.#parts.visitors.requireMay(visitor, visit.workspaceId)
    return visitor
  }

  /** Of those that lead into the present container; one of a stopped workspace only says so. */
  async #requirePort({ workspaceId, hostPort }: Visit): Promise<number> {
    const { lifecycle, ports, publish } = this.#parts
    const status = lifecycle.status({ id: workspaceId })
    const published = publish(status.ports).find(({ host }) => host === hostPort)
    if (published) return published.container
    if (status.running || !(await ports.find(workspaceId)).includes(hostPort)) throw notFound()
    throw new AppError('container_not_running', 'The workspace is stopped: start it first')
  }
}

const notFound = () => new AppError('not_found', 'Not Found')
