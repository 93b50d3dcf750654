import type { ContainerRole } from '../container-engine.ts'

/** Where isolated containers are. */
export interface EngineNetworks {
  /** The network for a new container of this workspace. */
  prepare(workspaceId: string, role: ContainerRole): Promise<string>
  /** After the container is gone. One that is not there is a success. */
  release(workspaceId: string, role: ContainerRole): Promise<void>
  /** Removes what belongs to no container any more. `isInUse` is asked for each. */
  prune(isInUse: (workspaceId: string) => boolean): Promise<void>
  subnets(): Promise<string[]>
}
