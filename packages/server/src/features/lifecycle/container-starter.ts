import { AgentClient } from '../../agent/agent-client.ts'
import type { Settings } from '../../config/settings.ts'
import {
  type ContainerEngine,
  type ContainerMount,
  type ContainerSpec,
  EngineError,
  type PublishedPort,
} from '../../engine/container-engine.ts'
import { HomeNameRefused } from '../../engine/home-storage.ts'
import type { Announcer } from '../../kernel/announcer.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { PullNews } from '../images/images.ts'
import type { HostedPorts } from '../ports/hosted-ports.ts'
import type { WorkspaceTokens } from '../workspace-tokens/workspace-tokens.ts'
import { effectiveLimits, hasSudo } from '../workspaces/effective-settings.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { atOnce } from './at-once.ts'
import { containerEnv, hostingAddress } from './container-env.ts'
import { chooseNetwork, type NetworkChoice, publish, requireFilter } from './container-network.ts'
import { deadline } from './deadline.ts'
import type { TellStage } from './start-stages.ts'
import type { Stopwatch } from './stopwatch.ts'

/** What an engine may take to make a container and start it. */
const RUN_MS = 120_000
/** From a container that runs to an agent that is ready. */
const READY_MS = 60_000
const PORT_TRIES = 3
const IN_HOME = '/home/'

export type StarterSettings = Pick<Settings, 'containers' | 'hosting' | 'egress' | 'branding'>

export interface StarterParts {
  readonly engine: ContainerEngine
  readonly ports: HostedPorts
  readonly tokens: WorkspaceTokens
  readonly volumes: { ensureFor(workspace: Workspace, names: string[]): Promise<void> }
  readonly images: {
    readonly progress: Pick<Announcer<PullNews>, 'subscribe'>
    nameFor(image: string | null): string
    requireAllowed(image: string): void
    ensurePresent(image: string, signal: AbortSignal): Promise<void>
  }
  /** Checks them anew, and resolves the links of host paths. */
  readonly mounts: (mounts: Workspace['mounts']) => Promise<readonly ContainerMount[]>
  readonly settings: () => StarterSettings
  readonly clock: Clock
}

/** Everything a container needs before it can be made. */
export interface Prepared {
  readonly spec: Omit<ContainerSpec, 'ports' | 'env'>
  readonly network: NetworkChoice
  readonly hostPorts: readonly number[]
}

export interface ReadyAgent {
  readonly agent: AgentClient
  /** Epoch seconds. */
  readonly tokenExpiresAt: number
}

/** The way from a workspace to a container whose agent is ready. Knows of no other container and keeps nothing. */
export class ContainerStarter {
  readonly #parts: StarterParts

  constructor(parts: StarterParts) {
    this.#parts = parts
  }

  /** What does not depend on each other is done at once. */
  async prepare(workspace: Workspace, { signal, tell }: { signal: AbortSignal; tell: TellStage }): Promise<Prepared> {
    const { engine, ports, images, settings } = this.#parts
    const { containers, egress } = settings()
    refuseFips(containers.fipsMode)
    requireFilter(workspace.egressMode, egress.netfilterEnabled)
    const image = images.nameFor(workspace.image)
    images.requireAllowed(image)
    const network = chooseNetwork(workspace, engine.supports)
    const [mounts, hostPorts] = await atOnce(signal, (until) => [
      this.#mounts(workspace),
      network.asked === 'none' ? [] : ports.reconcile(workspace),
      engine.supports.images ? this.#image(image, until, tell) : undefined,
      engine.homes.ensure(workspace.id),
    ])
    const slug = slugOf(workspace.name)
    return {
      network,
      hostPorts,
      spec: {
        workspaceId: workspace.id,
        role: 'workspace',
        slug,
        image,
        hostname: slug || `ws-${workspace.id.slice(0, 8)}`,
        limits: effectiveLimits(workspace, containers),
        network: network.asked,
        dns: { servers: containers.dnsServers ?? [], search: containers.dnsSearch ?? [] },
        mounts,
        sudo: hasSudo(workspace, containers),
      },
    }
  }

  /** Answers the container and the ports it really has: one that somebody else took meanwhile is replaced. */
  async run(
    prepared: Prepared,
    options: {
      signal: AbortSignal
      externalUrl: string | undefined
      onCreated(id: string, ports: readonly number[]): Promise<void>
    },
  ): Promise<{ containerId: string; ports: readonly number[] }> {
    const { engine, ports: hosted, clock } = this.#parts
    const late = deadline(clock, RUN_MS, 'starting the container', options.signal)
    let hostPorts = prepared.hostPorts
    try {
      for (let attempt = 1; ; attempt++) {
        const published = publish(hostPorts, engine.supports)
        const spec = { ...prepared.spec, ports: published, env: this.#env(prepared, published, options.externalUrl) }
        try {
          const ports = hostPorts
          const onCreated = (id: string) => options.onCreated(id, ports)
          return { containerId: await engine.run(spec, { signal: late.signal, onCreated }), ports }
        } catch (error) {
          const isTaken = error instanceof EngineError && error.fault === 'port_in_use'
          if (!isTaken || attempt === PORT_TRIES) throw error
          hostPorts = await hosted.replaceTaken(prepared.spec.workspaceId)
        }
      }
    } finally {
      late.done()
    }
  }

  /** Connects to the agent of a container that runs and brings it up, if nobody did before. */
  async makeReady(
    workspace: Workspace,
    containerId: string,
    { signal, watch, withinMs = READY_MS }: { signal: AbortSignal; watch?: Stopwatch; withinMs?: number },
  ): Promise<ReadyAgent> {
    const { tokens, clock } = this.#parts
    const late = deadline(clock, withinMs, 'getting the agent ready', signal)
    let agent: AgentClient | undefined
    try {
      agent = await this.connect(containerId, late.signal)
      watch?.lap('connect')
      const { token, expiresAt } = await tokens.issue(workspace.id, containerId)
      if (agent.isReady) await agent.writeToken(token, { signal: late.signal })
      else await agent.setup(this.#setup(workspace, token), { signal: late.signal })
      watch?.lap('setup')
      return { agent, tokenExpiresAt: expiresAt }
    } catch (error) {
      agent?.close()
      throw late.signal.aborted ? late.signal.reason : error
    } finally {
      late.done()
    }
  }

  async connect(containerId: string, signal: AbortSignal): Promise<AgentClient> {
    return AgentClient.connect(await this.#parts.engine.connect(containerId, signal), { signal })
  }

  async #image(image: string, signal: AbortSignal, tell: TellStage): Promise<void> {
    const { images } = this.#parts
    tell('image')
    const endTelling = images.progress.subscribe((news) => {
      if (news.image === image) tell('image', news.text)
    })
    try {
      await images.ensurePresent(image, signal)
    } finally {
      endTelling()
    }
  }

  async #mounts(workspace: Workspace): Promise<readonly ContainerMount[]> {
    const mounts = await this.#parts.mounts(workspace.mounts)
    for (const { target } of mounts) await this.#requirePlainTarget(workspace.id, target)
    const names = mounts.flatMap((mount) => (mount.kind === 'volume' ? [mount.name] : []))
    if (names.length > 0) await this.#parts.volumes.ensureFor(workspace, names)
    return mounts
  }

  /** A link in the home, which is its user's to lay, would let a mount land anywhere in the container. */
  async #requirePlainTarget(workspaceId: string, target: string): Promise<void> {
    if (!target.startsWith(IN_HOME)) return
    try {
      await this.#parts.engine.homes.requirePlainWay(workspaceId, target.slice(IN_HOME.length))
    } catch (error) {
      if (!(error instanceof HomeNameRefused)) throw error
      throw new AppError('bad_request', `Nothing can be mounted at ${target}: ${error.message}`)
    }
  }

  #env({ spec }: Prepared, ports: readonly PublishedPort[], externalUrl: string | undefined): Record<string, string> {
    const { hosting, egress, branding } = this.#parts.settings()
    return containerEnv({
      workspaceId: spec.workspaceId,
      ports,
      hosting: hostingAddress(hosting, externalUrl),
      egressPort: egress.port,
      terminalBanner: branding.terminalBanner,
    })
  }

  /**
   * The workspace's own variables go to the agent's children and not to the container: the agent begins as root, and a
   * variable such as `NODE_OPTIONS` would let whoever may edit the workspace have it.
   */
  #setup(workspace: Workspace, token: string) {
    return {
      sudo: hasSudo(workspace, this.#parts.settings().containers),
      service_command: workspace.setupState === 'complete' ? workspace.serviceCommand : null,
      token,
      env: workspace.env ?? {},
    }
  }
}

/** Who asks for proof must not get a workspace without it. */
function refuseFips(isWanted: boolean): void {
  if (!isWanted) return
  throw new AppError(
    'start_failed',
    'This server starts only workspaces that prove an enforcing FIPS provider (SVCD_FIPS_MODE), ' +
      'and this version cannot ask them for it: no workspace can be started',
  )
}

const SLUG_LENGTH = 24

/** Only decoration: two workspaces may have the same. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_LENGTH)
    .replace(/^-+|-+$/g, '')
