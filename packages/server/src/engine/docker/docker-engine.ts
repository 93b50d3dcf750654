import type { Duplex } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import {
  type ContainerEngine,
  type ContainerId,
  type ContainerRole,
  type ContainerSpec,
  type ContainerState,
  EngineError,
  type EngineListener,
  type EngineSupport,
} from '../container-engine.ts'
import type { HomeStorage } from '../home-storage.ts'
import { waitForAgent } from './agent-connection.ts'
import type { AgentSockets } from './agent-sockets.ts'
import { containerLabels, containerName } from './container-identity.ts'
import type { ContainersApi } from './containers-api.ts'
import type { CreatePlan } from './create-plan.ts'
import type { EngineApi } from './engine-api.ts'
import type { EngineEvents } from './engine-events.ts'
import type { EngineImages } from './engine-images.ts'
import type { EngineNetworks } from './engine-networks.ts'
import type { EngineVolumes } from './engine-volumes.ts'

interface EngineParts {
  readonly name: string
  readonly supports: EngineSupport
  readonly privatePaths: readonly string[]
  readonly instanceId: string
  readonly homes: HomeStorage & { pathOf(workspaceId: string): string }
  readonly agentDir: string
  /** What is the same for every container. */
  readonly setting: Pick<CreatePlan, 'userNamespace' | 'processLimits' | 'ociRuntime'>
  readonly api: EngineApi
  readonly containers: ContainersApi
  readonly networks: EngineNetworks
  /** Those that containers of an earlier server are in. */
  readonly subnets: readonly string[]
  readonly sockets: AgentSockets
  readonly events: EngineEvents
  readonly volumes: EngineVolumes
  readonly images: EngineImages
  readonly clock: Clock
  readonly log: Logger
  /** Ends what was started for the engine itself. */
  readonly release: () => Promise<void>
}

interface Place {
  readonly workspaceId: string
  readonly role: ContainerRole
}

/** Podman or Docker, through the API of its service. */
export class DockerEngine implements ContainerEngine {
  readonly name: string
  readonly supports: EngineSupport
  readonly privatePaths: readonly string[]
  readonly homes: HomeStorage
  readonly volumes: EngineVolumes
  readonly images: EngineImages
  readonly #parts: EngineParts
  #subnets: readonly string[]
  /** Whose the containers are that we have seen: for those that others removed behind our back. */
  readonly #places = new Map<ContainerId, Place>()

  constructor(parts: EngineParts) {
    this.name = parts.name
    this.supports = parts.supports
    this.privatePaths = parts.privatePaths
    this.homes = parts.homes
    this.volumes = parts.volumes
    this.images = parts.images
    this.#parts = parts
    this.#subnets = parts.subnets
  }

  get containerSubnets(): readonly string[] {
    return this.#subnets
  }

  async run(
    spec: ContainerSpec,
    { signal, onCreated }: { signal: AbortSignal; onCreated(id: ContainerId): Promise<void> },
  ): Promise<ContainerId> {
    const { containers, networks, sockets, homes } = this.#parts
    signal.throwIfAborted()
    await using undo = new AsyncDisposableStack()
    await homes.ensure(spec.workspaceId)
    const key = keyOf(spec)
    undo.defer(() => this.#quietly('remove a socket directory', () => sockets.remove(key)))
    const socket = await sockets.prepare(key)
    let network: string | undefined
    if (spec.network === 'isolated') {
      undo.defer(() => this.#quietly('remove a network', () => networks.release(spec.workspaceId, spec.role)))
      network = await networks.prepare(spec.workspaceId, spec.role)
    }
    signal.throwIfAborted()
    // Not cut off by the signal: the engine would make the container all the same, and nobody would know of it.
    const [id] = await Promise.all([containers.create(this.#plan(spec, socket, network)), this.#learnSubnets(network)])
    this.#places.set(id, { workspaceId: spec.workspaceId, role: spec.role })
    undo.defer(() => {
      this.#places.delete(id)
      return this.#quietly('remove a container', () => containers.remove(id))
    })
    await onCreated(id)
    signal.throwIfAborted()
    await containers.start(id, spec)
    await this.volumes.giveToUser(spec.mounts.filter((mount) => mount.kind === 'volume').map(({ name }) => name))
    signal.throwIfAborted()
    undo.move()
    return id
  }

  async #learnSubnets(network: string | undefined): Promise<void> {
    if (network !== undefined) this.#subnets = await this.#parts.networks.subnets()
  }

  async connect(id: ContainerId, signal: AbortSignal): Promise<Duplex> {
    const { containers, sockets, events, clock } = this.#parts
    const place = this.#places.get(id) ?? (await this.inspect(id))
    if (!place) throw new EngineError('not_running', `there is no container ${id}`)
    return waitForAgent({ id, containers, events, clock, signal, connect: () => sockets.connect(keyOf(place)) })
  }

  async remove(id: ContainerId, { graceSeconds }: { graceSeconds: number }): Promise<void> {
    const { containers, networks, sockets } = this.#parts
    const place = (await this.inspect(id)) ?? this.#places.get(id)
    await containers.stop(id, graceSeconds)
    await containers.remove(id)
    if (!place) return
    this.#places.delete(id)
    await sockets.remove(keyOf(place))
    await networks.release(place.workspaceId, place.role)
  }

  async inspect(id: ContainerId): Promise<ContainerState | undefined> {
    return this.#parts.containers.inspect(id)
  }

  async list(): Promise<ContainerState[]> {
    return this.#parts.containers.list()
  }

  watch(listener: EngineListener, signal: AbortSignal): void {
    if (signal.aborted) return
    const end = this.#parts.events.subscribe(listener)
    signal.addEventListener('abort', end, { once: true })
  }

  async close(): Promise<void> {
    const { events, api, release } = this.#parts
    await events.close()
    api.close()
    await release()
  }

  #plan(spec: ContainerSpec, socket: string, network: string | undefined): CreatePlan {
    const { instanceId, homes, agentDir, setting } = this.#parts
    const identity = { instanceId, workspaceId: spec.workspaceId, role: spec.role, slug: spec.slug }
    return {
      ...setting,
      spec,
      limitsEnforced: this.supports.limits,
      name: containerName(identity),
      labels: containerLabels(identity, process.pid),
      hostPaths: { home: homes.pathOf(spec.workspaceId), agent: agentDir, socket },
      network,
    }
  }

  /** For what is done after a failure, which is the one that must be told. */
  async #quietly(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#parts.log.warning(`could not ${what} after a failed start`, { error })
    }
  }
}

function keyOf({ workspaceId, role }: Place): string {
  return role === 'workspace' ? workspaceId : `${workspaceId}.${role}`
}
