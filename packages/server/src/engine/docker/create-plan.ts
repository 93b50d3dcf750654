import type { ContainerSpec } from '../container-engine.ts'
import type { IdMap } from './id-map.ts'
import type { ProcessLimits } from './process-limits.ts'

/** Everything a container is made from, before it is said in the words of one engine. */
export interface CreatePlan {
  readonly spec: ContainerSpec
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly hostPaths: {
    readonly home: string
    /** Read-only: the agent and what runs it. */
    readonly agent: string
    /** Where the agent makes its socket. */
    readonly socket: string
  }
  /** The engine's name of the container's network; undefined for none. */
  readonly network: string | undefined
  readonly userNamespace: UserNamespace
  readonly processLimits: ProcessLimits
  /** Asked for one it cannot enforce, an engine would refuse the whole container. */
  readonly limitsEnforced: boolean
  /** Undefined for the engine's own choice. */
  readonly ociRuntime: string | undefined
}

/**
 * `map`: explicit ids, chosen by us. `named`: in Podman's words, for an engine that is not root itself. `daemon`: as
 * the daemon does it for all containers, or not at all.
 */
export type UserNamespace =
  | { readonly kind: 'map'; readonly map: IdMap }
  | { readonly kind: 'named'; readonly mode: string }
  | { readonly kind: 'daemon' }

export const AGENT_COMMAND = ['/opt/svc/node', '/opt/svc/agent.mjs']
export const AGENT_TARGET = '/opt/svc'
export const SOCKET_TARGET = '/run/svc'
export const HOME_TARGET = '/home'

/** Until the engine loses patience by itself: only a net, since a stop says its own grace. */
export const STOP_TIMEOUT_SECONDS = 10
/** What the agent says on its standard error is for a failed start only. */
export const LOG_BYTES = 1024 * 1024
export const CPU_PERIOD_US = 100_000

/** Programs may use ICMP without a privilege: `ping` works for everybody in the container. */
export const PING_SYSCTL = { 'net.ipv4.ping_group_range': '0 65535' }
