import { join } from 'node:path'
import type { Permission } from '@svc/protocol/permissions'
import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import { LocalEngine } from '../engine/local/local-engine.ts'
import { systemClock } from '../kernel/clock.ts'
import { MemoryLog } from './memory-log.ts'
import { AGENT_DIR } from './open-machine.ts'
import type { SocketClient } from './socket-client.ts'
import { field, type Person, succeed } from './start-accounts.ts'

/** For `startAccounts`: workspaces really run, on the local engine. */
export const openLocalEngine = (folder: string): Promise<LocalEngine> =>
  LocalEngine.open({
    stateDir: join(folder, 'state'),
    dataDir: join(folder, 'data'),
    agentDir: AGENT_DIR,
    clock: systemClock,
    log: new MemoryLog(),
  })

/** A new workspace; answers its id. */
export async function makeWorkspace(owner: Person, more: object = {}): Promise<string> {
  const fresh = { name: `workspace ${crypto.randomUUID()}`, egress_mode: 'allow', ...more }
  return field(await succeed(owner.post('/workspaces', fresh)), 'id')
}

/** Replaces the entries of a workspace: its owner may do everything, and the others exactly this. */
export async function allowOnly(
  owner: Person,
  workspaceId: string,
  others: readonly (readonly [Person, readonly Permission[]])[] = [],
): Promise<void> {
  const allow = { action: 1, principal_type: 1 }
  const rows = others.flatMap(([person, permissions]) =>
    permissions.map((permission) => ({ ...allow, user_id: person.id, permission })),
  )
  await succeed(
    owner.put(`/workspaces/${workspaceId}/acl`, [{ ...allow, user_id: owner.id, permission: '*' }, ...rows]),
  )
}

/** Opens a workspace on a socket. */
export async function connect(socket: SocketClient, workspaceId: string) {
  socket.send({ cmd: 'workspace_connect', workspaceId })
  return socket.next('container_ready')
}

/** What a socket was told, in short: `container_status false`, `event container_stopped idle timeout`. */
export const story = ({ frames }: SocketClient, from = 0): string[] => frames.slice(from).map(inShort)

function inShort(frame: ServerFrame): string {
  switch (frame.type) {
    case 'event':
      return `event ${frame.event.name}${'reason' in frame.event.value ? ` ${frame.event.value.reason}` : ''}`
    case 'container_status':
      return `container_status ${frame.running}`
    case 'service_health':
      return `service_health ${frame.healthy} running ${frame.running}`
    case 'error':
      return `error ${frame.code} ${frame.message}`
    case 'container_progress':
      return `container_progress ${frame.stage}`
    default:
      return frame.type
  }
}
