import { join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { readText } from '../../kernel/read-text.ts'
import { type ContainerEngine, EngineError } from '../container-engine.ts'
import { HostHomes } from '../host-homes/host-homes.ts'
import { AgentSockets } from './agent-sockets.ts'
import { ContainersApi } from './containers-api.ts'
import { dockerBody } from './docker-body.ts'
import { DockerEngine } from './docker-engine.ts'
import { DockerNetworks } from './docker-networks.ts'
import { EngineApi } from './engine-api.ts'
import { EngineEvents } from './engine-events.ts'
import { type EngineFlavour, enforcesLimits, lookAtEngine } from './engine-flavour.ts'
import { EngineImages } from './engine-images.ts'
import { EngineVolumes } from './engine-volumes.ts'
import { findSocket } from './find-socket.ts'
import { chooseHostIds } from './host-ids.ts'
import { chooseRuntime, hasMixedCgroups } from './oci-runtime.ts'
import { podmanBody } from './podman-body.ts'
import { PodmanNetworks } from './podman-networks.ts'
import { PodmanService } from './podman-service.ts'
import { readProcessLimits } from './process-limits.ts'

export interface DockerOptions {
  readonly instanceId: string
  /** Sockets of agents, and of a Podman service of our own. */
  readonly stateDir: string
  /** Homes. */
  readonly dataDir: string
  /** The host's directory that is `/opt/svc` in every container. */
  readonly agentDir: string
  /** Sockets to try, in this order. */
  readonly sockets: readonly string[]
  /** Started to serve us when no socket answers; undefined to do without. */
  readonly podmanBin: string | undefined
  /** User namespace in Podman's words, for a Podman without root. */
  readonly userns: string
  /** For Podman, when we start it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly log: Logger
}

/** Throws an `EngineError` when no engine can be reached. */
export async function openDocker(options: DockerOptions): Promise<ContainerEngine> {
  const { clock, log } = options
  await using undo = new AsyncDisposableStack()
  const mounts = await readText('/proc/self/mounts')
  const { socketPath, release } = await reach(options, mounts)
  undo.defer(release)
  const api = new EngineApi({ socketPath, clock })
  undo.defer(() => api.close())
  const flavour = await lookAtEngine(api)
  const { prefix, kind, version } = flavour
  const isRoot = process.getuid?.() === 0
  const [subuid, subgid] = await Promise.all([readText('/etc/subuid'), readText('/etc/subgid')])
  const ids = chooseHostIds({ flavour, userns: options.userns, subuid, subgid, isRoot })
  const ociRuntime = chooseRuntime(flavour, mounts)
  const { instanceId } = options
  const common = { api, prefix, instanceId, clock, log }
  const events = new EngineEvents(common)
  await events.start()
  undo.defer(() => events.close())
  const containers = new ContainersApi({ ...common, createRequest: createRequest(flavour) })
  const networks =
    kind === 'podman' ? new PodmanNetworks({ ...common, prefix: flavour.libpodPrefix }) : new DockerNetworks(common)
  const living = new Set((await containers.list()).map(({ workspaceId }) => workspaceId))
  await networks.adopt((workspaceId) => living.has(workspaceId))
  const name = `${kind === 'podman' ? 'Podman' : 'Docker'} ${version}`
  log.info(`workspaces run in ${name} at ${socketPath}`, {
    runtime: ociRuntime ?? flavour.info.DefaultRuntime,
    user_namespace: ids.isSeparate,
  })
  if (!ids.isSeparate) {
    log.warning('root in a workspace is root of this machine: set userns-remap in the Docker daemon, or use Podman')
  }
  const limits = enforcesLimits(flavour)
  if (!limits) log.warning('workspaces have no limits: the engine may not limit memory, processors and processes')
  undo.move()
  return new DockerEngine({
    name,
    supports: { images: true, userNamespaces: ids.isSeparate, limits, networks: true, volumes: true },
    privatePaths: [socketPath],
    instanceId,
    homes: new HostHomes({ root: join(options.dataDir, 'workspaces'), owner: ids.owners?.user }),
    agentDir: options.agentDir,
    setting: { userNamespace: ids.userNamespace, processLimits: readProcessLimits(), ociRuntime },
    api,
    containers,
    networks,
    sockets: new AgentSockets({ folder: join(options.stateDir, 'agents'), owner: ids.owners?.root }),
    events,
    volumes: new EngineVolumes({ ...common, owners: ids.owners }),
    images: new EngineImages(common),
    clock,
    log,
    release,
  })
}

/** A socket that answers, and what ends it if it is ours. */
async function reach(
  { sockets, environment, podmanBin, stateDir, clock, log }: DockerOptions,
  mounts: string,
): Promise<{ socketPath: string; release: () => Promise<void> }> {
  const found = await findSocket(sockets)
  if (found !== undefined) return { socketPath: found, release: async () => {} }
  if (podmanBin === undefined) {
    throw new EngineError('unavailable', `no container engine answers at ${sockets.join(' or ')}`)
  }
  const runtime = hasMixedCgroups(mounts) ? 'runc' : undefined
  const folder = join(stateDir, 'podman')
  const service = await PodmanService.start({ binary: podmanBin, folder, runtime, environment, clock, log })
  return { socketPath: service.socketPath, release: () => service.stop() }
}

/** Podman's own API can say a user namespace; Docker's cannot, and Docker has only that. */
function createRequest({ kind, prefix, libpodPrefix }: EngineFlavour) {
  if (kind === 'podman') {
    return (plan: Parameters<typeof podmanBody>[0]) =>
      ({ method: 'POST', path: `${libpodPrefix}/containers/create`, body: podmanBody(plan) }) as const
  }
  return (plan: Parameters<typeof dockerBody>[0]) =>
    ({
      method: 'POST',
      path: `${prefix}/containers/create`,
      query: { name: plan.name },
      body: dockerBody(plan),
    }) as const
}
