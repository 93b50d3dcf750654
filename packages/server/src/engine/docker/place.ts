import type { ContainerRole } from '../container-engine.ts'

/** Which container it is, of all that there can be: a new one comes to the place of the one before. */
export interface Place {
  readonly workspaceId: string
  readonly role: ContainerRole
}

export function keyOf({ workspaceId, role }: Place): string {
  return role === 'workspace' ? workspaceId : `${workspaceId}.${role}`
}
