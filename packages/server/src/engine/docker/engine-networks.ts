import type { Place } from './place.ts'

/** Where isolated containers are. */
export interface EngineNetworks {
  /** Of our networks, as of now: that of a new one is in it once it is prepared. Another array after each change. */
  readonly subnets: readonly string[]
  /** Learns what an earlier server left, and removes what belongs to no container any more. */
  adopt(isInUse: (workspaceId: string) => boolean): Promise<void>
  /** The network for a new container of this workspace. */
  prepare(place: Place): Promise<string>
  /** After the container is gone. One that is not there is a success. */
  release(place: Place): Promise<void>
}
