import type { ContainerLimits, ContainerMount } from '../container-engine.ts'
import { capabilities } from './capabilities.ts'
import {
  AGENT_COMMAND,
  AGENT_TARGET,
  type CreatePlan,
  HOME_TARGET,
  LOG_BYTES,
  PING_SYSCTL,
  SOCKET_TARGET,
  STOP_TIMEOUT_SECONDS,
} from './create-plan.ts'
import { tmpfsMounts } from './tmpfs.ts'

const NO_LIMIT = -1

/** The plan in the words of Docker's API. */
export function dockerBody(plan: CreatePlan): Record<string, unknown> {
  const { spec, labels, hostPaths, network, processLimits, ociRuntime, limitsEnforced } = plan
  const ports = network === undefined ? [] : spec.ports
  return {
    Image: spec.image,
    Labels: labels,
    Entrypoint: AGENT_COMMAND,
    Cmd: [],
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    User: '0:0',
    WorkingDir: '/',
    Hostname: spec.hostname,
    StopSignal: 'SIGTERM',
    StopTimeout: STOP_TIMEOUT_SECONDS,
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: Object.fromEntries(ports.map(({ container }) => [`${container}/tcp`, {}])),
    HostConfig: {
      Init: true,
      ...(ociRuntime !== undefined && { Runtime: ociRuntime }),
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'json-file', Config: { 'max-size': String(LOG_BYTES), 'max-file': '1' } },
      CapDrop: ['ALL'],
      CapAdd: capabilities(spec.sudo),
      SecurityOpt: spec.sudo ? [] : ['no-new-privileges:true'],
      ...(limitsEnforced && resourceLimits(spec.limits)),
      Ulimits: Object.entries(processLimits).map(([name, limit]) => ({ Name: name, Hard: limit, Soft: limit })),
      Tmpfs: Object.fromEntries(tmpfsMounts(spec.limits).map(({ target, options }) => [target, options.join(',')])),
      Mounts: [
        bind(hostPaths.home, HOME_TARGET, false),
        bind(hostPaths.agent, AGENT_TARGET, true),
        bind(hostPaths.socket, SOCKET_TARGET, false),
        ...spec.mounts.map(mountBody),
      ],
      NetworkMode: network ?? 'none',
      ...(network !== undefined && {
        Sysctls: PING_SYSCTL,
        PortBindings: Object.fromEntries(
          ports.map(({ host, container }) => [`${container}/tcp`, [{ HostIp: '127.0.0.1', HostPort: String(host) }]]),
        ),
        Dns: spec.dns.servers,
        DnsSearch: spec.dns.search,
        ExtraHosts: ['host.containers.internal:host-gateway'],
      }),
    },
  }
}

function resourceLimits({ cpus, memoryBytes, pids }: ContainerLimits): Record<string, unknown> {
  return {
    PidsLimit: pids ?? NO_LIMIT,
    ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
  }
}

function mountBody(mount: ContainerMount) {
  if (mount.kind === 'host') return bind(mount.source, mount.target, mount.readOnly)
  return { Type: 'volume', Source: mount.name, Target: mount.target, ReadOnly: mount.readOnly }
}

function bind(source: string, target: string, readOnly: boolean) {
  return { Type: 'bind', Source: source, Target: target, ReadOnly: readOnly }
}
