import type { ContainerLimits, ContainerMount } from '../container-engine.ts'
import { capabilities } from './capabilities.ts'
import {
  AGENT_COMMAND,
  AGENT_TARGET,
  CPU_PERIOD_US,
  type CreatePlan,
  HOME_TARGET,
  LOG_BYTES,
  PING_SYSCTL,
  SOCKET_TARGET,
  STOP_TIMEOUT_SECONDS,
  type UserNamespace,
} from './create-plan.ts'
import { tmpfsMounts } from './tmpfs.ts'

const NO_LIMIT = -1
const SIGTERM = 15

/** The plan in the words of Podman's own API: unlike Docker's, it can say a user namespace. */
export function podmanBody(plan: CreatePlan): Record<string, unknown> {
  const { spec, name, labels, hostPaths, network, userNamespace, processLimits, ociRuntime, limitsEnforced } = plan
  return {
    name,
    labels,
    image: spec.image,
    entrypoint: AGENT_COMMAND,
    command: [],
    env: spec.env,
    httpproxy: false, // the server's own proxy settings may hold a password
    user: '0:0',
    work_dir: '/',
    hostname: spec.hostname,
    init: true,
    systemd: 'false',
    stop_signal: SIGTERM,
    stop_timeout: STOP_TIMEOUT_SECONDS,
    restart_policy: 'no',
    healthconfig: { Test: ['NONE'] },
    image_volume_mode: 'ignore',
    log_configuration: { driver: 'k8s-file', size: LOG_BYTES },
    ...(ociRuntime !== undefined && { oci_runtime: ociRuntime }),
    ...userNamespaceBody(userNamespace),
    cap_drop: ['ALL'],
    cap_add: capabilities(spec.sudo),
    no_new_privileges: !spec.sudo,
    ...(limitsEnforced && { resource_limits: resourceLimits(spec.limits) }),
    r_limits: Object.entries(processLimits).map(([type, limit]) => ({ type, hard: limit, soft: limit })),
    mounts: [
      ...tmpfsMounts(spec.limits).map(({ target, options }) => ({
        type: 'tmpfs',
        source: 'tmpfs',
        destination: target,
        options,
      })),
      bind(hostPaths.home, HOME_TARGET, 'rw'),
      bind(hostPaths.agent, AGENT_TARGET, 'ro'),
      bind(hostPaths.socket, SOCKET_TARGET, 'rw'),
      ...spec.mounts
        .filter((mount) => mount.kind === 'host')
        .map((mount) => bind(mount.source, mount.target, access(mount))),
    ],
    volumes: spec.mounts
      .filter((mount) => mount.kind === 'volume')
      .map((mount) => ({ Name: mount.name, Dest: mount.target, Options: [access(mount), 'nosuid', 'nodev'] })),
    ...networkBody(plan, network),
  }
}

function networkBody({ spec }: CreatePlan, network: string | undefined): Record<string, unknown> {
  if (network === undefined) return { netns: { nsmode: 'none' } }
  return {
    netns: { nsmode: 'bridge' },
    networks: { [network]: {} },
    sysctl: PING_SYSCTL,
    portmappings: spec.ports.map(({ host, container }) => ({
      host_ip: '127.0.0.1',
      host_port: host,
      container_port: container,
      protocol: 'tcp',
    })),
    ...(spec.dns.servers.length > 0 && { dns_server: spec.dns.servers }),
    ...(spec.dns.search.length > 0 && { dns_search: spec.dns.search }),
  }
}

function userNamespaceBody(userNamespace: UserNamespace): Record<string, unknown> {
  if (userNamespace.kind === 'daemon') return {}
  if (userNamespace.kind === 'named') {
    const [nsmode, value] = split(userNamespace.mode)
    return { userns: { nsmode, ...(value !== undefined && { value }) } }
  }
  const { firstUid, firstGid, size } = userNamespace.map
  return {
    userns: { nsmode: 'private' },
    idmappings: {
      UIDMap: [{ container_id: 0, host_id: firstUid, size }],
      GIDMap: [{ container_id: 0, host_id: firstGid, size }],
      HostUIDMapping: false,
      HostGIDMapping: false,
    },
  }
}

function split(mode: string): [string, string | undefined] {
  const at = mode.indexOf(':')
  return at < 0 ? [mode, undefined] : [mode.slice(0, at), mode.slice(at + 1)]
}

/** Said even when there is none: the engine would set a limit of its own for processes. */
function resourceLimits({ cpus, memoryBytes, pids }: ContainerLimits): Record<string, unknown> {
  return {
    pids: { limit: pids ?? NO_LIMIT },
    ...(memoryBytes !== undefined && { memory: { limit: memoryBytes, swap: memoryBytes } }),
    ...(cpus !== undefined && { cpu: { quota: Math.round(cpus * CPU_PERIOD_US), period: CPU_PERIOD_US } }),
  }
}

function bind(source: string, destination: string, access: 'ro' | 'rw') {
  return { type: 'bind', source, destination, options: ['rbind', access, 'nosuid', 'nodev'] }
}

const access = ({ readOnly }: ContainerMount): 'ro' | 'rw' => (readOnly ? 'ro' : 'rw')
