import type { WorkspaceNetwork } from '@svc/protocol/lifecycle'
import type { ContainerSpec, EngineSupport, PublishedPort } from '../../engine/container-engine.ts'
import { AppError } from '../../kernel/app-error.ts'
import type { EgressMode, Workspace } from '../workspaces/workspace.ts'

type Supports = Pick<EngineSupport, 'networks' | 'hostNetwork'>

/** What the engine is asked for, and what people are told of it. */
export interface NetworkChoice extends WorkspaceNetwork {
  readonly asked: ContainerSpec['network']
}

const NO_GATE =
  'Outgoing connections are off: this workspace wants them filtered, and the filter is not part of this server yet'
const NOT_ISOLATED = 'The engine gives workspaces the network of the machine itself: nothing is filtered or kept apart'

const NOT_REJECTED = 'The list of rejected domains is not enforced: the filter is not part of this server yet'

/** Where the operator has turned the filter off, a workspace that wants one does not start. */
export function requireFilter(egressMode: EgressMode, isOffered: boolean): void {
  if (egressMode === 'allow' || isOffered) return
  throw new AppError(
    'start_failed',
    'This workspace wants its outgoing connections filtered, and this server does not do that ' +
      '(SVCD_NETFILTER_ENABLED): change its egress mode first',
  )
}

/** A workspace that wants its connections filtered gets none while there is no filter. */
export function chooseNetwork(
  { egressMode, rejectedDomains }: Pick<Workspace, 'egressMode' | 'rejectedDomains'>,
  supports: Supports,
): NetworkChoice {
  if (egressMode !== 'allow') return { asked: 'none', mode: 'none', note: NO_GATE }
  const isHost = isHostNetwork(supports)
  const notes = [...(isHost ? [NOT_ISOLATED] : []), ...(rejectedDomains?.length ? [NOT_REJECTED] : [])]
  return { asked: 'isolated', mode: isHost ? 'host' : 'isolated', note: notes.length > 0 ? notes.join('. ') : null }
}

const FIRST_CONTAINER_PORT = 8000

/** Which port inside belongs to each port of the host. */
export function publish(hostPorts: readonly number[], supports: Supports): PublishedPort[] {
  return hostPorts.map((host, index) => ({
    host,
    container: isHostNetwork(supports) ? host : FIRST_CONTAINER_PORT + index,
  }))
}

const isHostNetwork = ({ networks, hostNetwork }: Supports): boolean => hostNetwork === true || !networks
