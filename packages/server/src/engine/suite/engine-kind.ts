import type { ContainerEngine, ContainerId } from '../container-engine.ts'

/** A driver, and the engine behind it, for the tests of one file. */
export interface EngineKind {
  readonly name: string
  /** Why it cannot be tried here; undefined when it can. */
  readonly missing: string | undefined
  /** `agentDir` is what is mounted at `/opt/svc`; a stand-in for the agent unless given. */
  start(options?: { readonly agentDir?: string }): Promise<EngineHost>
}

export interface EngineHost {
  /** An engine of a server of its own, unless `instanceId` is given again. */
  open(instanceId?: string): Promise<ContainerEngine>
  /** Holds what the agent needs, and nothing else. */
  readonly image: string
  /** Holds nothing. */
  readonly emptyImage: string
  /** All state directories are below this one. */
  readonly folder: string
  /** Runs the body of an async function in a container. */
  evaluate(engine: ContainerEngine, id: ContainerId, code: string): Promise<unknown>
  /** What only some can do: each is left out of the tests by name. */
  readonly service: EngineService | undefined
  stop(): Promise<void>
}

/** A service beside ours, which others use too. */
export interface EngineService {
  /** With SIGKILL. Resolves when it is dead; something starts it again. */
  kill(engine: ContainerEngine): Promise<void>
  /** As another user of the engine. */
  removeContainer(id: ContainerId): Promise<void>
  /** Names of networks that belong to a workspace. */
  networksOf(workspaceId: string): Promise<string[]>
  makeVolume(name: string): Promise<void>
  removeVolume(name: string): Promise<void>
}
