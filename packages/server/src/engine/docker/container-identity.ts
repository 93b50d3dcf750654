import type { ContainerRole } from '../container-engine.ts'

export const LABELS = {
  managed: 'svc.managed',
  instance: 'svc.instance',
  pid: 'svc.pid',
  workspace: 'svc.workspace',
  role: 'svc.role',
  workspaceName: 'svc.workspace-name',
  /** On volumes. */
  volumeOwner: 'svc.workspace-id',
} as const

/** What engines take in no name. */
const REFUSED = /[^\w.-]/g

export interface Identity {
  readonly instanceId: string
  readonly workspaceId: string
  readonly role: ContainerRole
  readonly slug: string
}

/** For people who look at the engine's own list; and one that is left of an earlier start is found by it. */
export function containerName({ instanceId, workspaceId, role, slug }: Identity): string {
  const prefix = role === 'workspace' ? 'svc' : 'svc-net'
  return [prefix, instanceId, slug.replaceAll(REFUSED, ''), workspaceId.slice(0, 8)]
    .filter((part) => part !== '')
    .join('-')
}

export function containerLabels(
  { instanceId, workspaceId, role, slug }: Identity,
  pid: number,
): Record<string, string> {
  return {
    [LABELS.managed]: 'true',
    [LABELS.instance]: instanceId,
    [LABELS.pid]: String(pid),
    [LABELS.workspace]: workspaceId,
    [LABELS.role]: role,
    [LABELS.workspaceName]: slug,
  }
}

/** The filter of the engine's lists and events. */
export function onlyOurs(instanceId: string, more: Readonly<Record<string, readonly string[]>> = {}): string {
  return JSON.stringify({ ...more, label: [`${LABELS.managed}=true`, `${LABELS.instance}=${instanceId}`] })
}
