import type { Duplex } from 'node:stream'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import {
  type ContainerEngine,
  type ContainerId,
  type ContainerSpec,
  type ContainerState,
  EngineError,
  type EngineListener,
  type EngineSupport,
} from '../container-engine.ts'
import { HeldSources } from '../held-sources.ts'
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
import { Leftovers } from './leftovers.ts'
import { keyOf, type Place } from './place.ts'

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
  readonly sockets: AgentSockets
  readonly events: EngineEvents
  readonly volumes: EngineVolumes
  readonly images: EngineImages
  readonly clock: Clock
  readonly log: Logger
  /** Ends what was started for the engine itself. */
  readonly release: () => Promise<void>
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
  readonly #leftovers: Leftovers
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
    const { sockets, networks, log } = parts
    this.#leftovers = new Leftovers({
      clear: async (place) => {
        try {
          await networks.release(place)
        } finally {
          await sockets.remove(keyOf(place))
        }
      },
      log,
    })
  }

  get containerSubnets(): readonly string[] {
    return this.#parts.networks.subnets
  }

  async run(
    spec: ContainerSpec,
    { signal, onCreated }: { signal: AbortSignal; onCreated(id: ContainerId): Promise<void> },
  ): Promise<ContainerId> {
    const { containers, networks, sockets, homes } = this.#parts
    signal.throwIfAborted()
    await using held = await HeldSources.hold(spec.mounts)
    await using undo = new AsyncDisposableStack()
    await homes.ensure(spec.workspaceId)
    const place = { workspaceId: spec.workspaceId, role: spec.role }
    await this.#leftovers.keep(place)
    undo.defer(() => this.#leftovers.clear(place))
    const socket = await sockets.prepare(keyOf(place))
    const network = spec.network === 'isolated' ? await networks.prepare(place) : undefined
    signal.throwIfAborted()
    // Not cut off by the signal: the engine would make the container all the same, and nobody would know of it.
    const id = await containers.create(this.#plan(spec, socket, network))
    for (const earlier of this.#idsIn(place)) this.#places.delete(earlier)
    this.#places.set(id, place)
    undo.defer(() => this.#undoCreate(id))
    await onCreated(id)
    signal.throwIfAborted()
    await containers.start(id, spec)
    if (!held.isEmpty) await held.requireMounted(await containers.requirePid(id))
    await this.volumes.giveToUser(spec.mounts.filter((mount) => mount.kind === 'volume').map(({ name }) => name))
    signal.throwIfAborted()
    undo.move()
    return id
  }

  async connect(id: ContainerId, signal: AbortSignal): Promise<Duplex> {
    const { containers, sockets, events, clock } = this.#parts
    const place = this.#places.get(id) ?? (await this.inspect(id))
    if (!place) throw new EngineError('not_running', `there is no container ${id}`)
    return waitForAgent({ id, containers, events, clock, signal, connect: () => sockets.connect(keyOf(place)) })
  }

  async remove(id: ContainerId, { graceSeconds }: { graceSeconds: number }): Promise<void> {
    const { containers } = this.#parts
    const container = await this.inspect(id)
    if (container) {
      await containers.stop(id, graceSeconds)
      await containers.remove(id)
    }
    const place = container ?? this.#places.get(id)
    this.#places.delete(id)
    // Another may have come to its place.
    if (place && this.#idsIn(place).length === 0) await this.#leftovers.clear(place)
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

  #idsIn(place: Place): ContainerId[] {
    return [...this.#places].flatMap(([id, one]) => (keyOf(one) === keyOf(place) ? [id] : []))
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

  /** Never fails: the failure before it is the one that must be told. */
  async #undoCreate(id: ContainerId): Promise<void> {
    const { containers, log } = this.#parts
    this.#places.delete(id)
    await containers
      .remove(id)
      .catch((error: unknown) => log.warning('could not remove a container after a failed start', { error }))
  }
}
