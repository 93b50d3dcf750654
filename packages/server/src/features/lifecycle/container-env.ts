import { systemAgent } from '@svc/protocol/system-agent'
import type { PublishedPort } from '../../engine/container-engine.ts'

/** How the host is called inside a workspace. */
const HOST = 'host.containers.internal'

/** Where people reach what a workspace hosts. */
export interface HostingAddress {
  readonly hostname: string
  readonly proto: string
  /** Empty, or from a slash on. */
  readonly basePath: string
}

export interface ContainerEnvFacts {
  readonly workspaceId: string
  readonly ports: readonly PublishedPort[]
  readonly hosting: HostingAddress
  readonly egressPort: number
  readonly terminalBanner: string
}

/** What the server tells the programs in a workspace. What the workspace sets for itself comes on top of it. */
export function containerEnv(facts: ContainerEnvFacts): Record<string, string> {
  const { workspaceId, ports, hosting, egressPort, terminalBanner } = facts
  const server = `http://${HOST}:${egressPort}`
  return {
    SVCWS_LLM_PROXY_URL: `${server}/llm-proxy`,
    ...(ports.length === 0
      ? {}
      : {
          SVCWS_PORT_MAPPINGS: ports.map(({ container, host }) => `${container}:${host}`).join(','),
          SVCWS_HOSTING_HOSTNAME: hosting.hostname,
          SVCWS_HOSTING_PROTO: hosting.proto,
          SVCWS_HOSTING_BASE_PATH: hosting.basePath,
        }),
    SVCWS_WORKSPACE_ID: workspaceId,
    SVCWS_AGENT_HOME: `/home/${systemAgent.handle}`,
    SVCWS_BRIDGE_URL: server,
    USER: systemAgent.handle,
    LOGNAME: systemAgent.handle,
    ...(terminalBanner === '' ? {} : { SVCWS_TERMINAL_BANNER: terminalBanner }),
  }
}

export interface HostingSettings {
  readonly hostname: string | undefined
  readonly proto: string | undefined
  readonly basePath: string | undefined
}

/** The operator's words first, then the address by which the request came, then this machine. */
export function hostingAddress(settings: HostingSettings, externalUrl: string | undefined): HostingAddress {
  const url = externalUrl === undefined ? undefined : URL.parse(externalUrl)
  return {
    hostname: settings.hostname ?? url?.host ?? 'localhost',
    proto: settings.proto ?? url?.protocol.replace(/:$/, '') ?? 'http',
    basePath: settings.basePath ?? url?.pathname.replace(/\/+$/, '') ?? '',
  }
}
