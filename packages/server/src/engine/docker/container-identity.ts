import type { ContainerRole } from '../container-engine.ts'

const LONGEST_SLUG = 24

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

export interface Identity {
  readonly instanceId: string
  readonly workspaceId: string
  readonly role: ContainerRole
  readonly slug: string
}

/** Only for people who look at the engine's own list: nothing is looked up by it. */
export function containerName({ instanceId, workspaceId, role, slug }: Identity): string {
  const prefix = role === 'workspace' ? 'svc' : 'svc-net'
  return [prefix, instanceId, toSlug(slug), workspaceId.slice(0, 8)].filter((part) => part !== '').join('-')
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
    [LABELS.workspaceName]: toSlug(slug),
  }
}

export function toSlug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, LONGEST_SLUG)
    .replace(/-$/, '')
}

/** The filter of the engine's lists and events. */
export function onlyOurs(instanceId: string, more: Readonly<Record<string, readonly string[]>> = {}): string {
  return JSON.stringify({ ...more, label: [`${LABELS.managed}=true`, `${LABELS.instance}=${instanceId}`] })
}
