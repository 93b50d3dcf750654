import type { Duplex } from 'node:stream'
import type { HomeStorage } from './home-storage.ts'

export type ContainerId = string

/**
 * What we ask of whatever runs workspaces. Drivers translate; they never decide. An engine is a way to get an agent
 * running somewhere and to reach it: everything after that is a message to the agent.
 */
export interface ContainerEngine {
  /** For people: what it is and which version, as in `Podman 4.3.1`. */
  readonly name: string
  readonly supports: EngineSupport
  /** Of the host; never for a workspace to see: the socket of the engine's service, for one. */
  readonly privatePaths: readonly string[]
  /** From which containers reach the host, as of now: that of a new one is in it before it starts. */
  readonly containerSubnets: readonly string[]
  readonly homes: HomeStorage
  readonly volumes: VolumeStorage
  readonly images: ImageStorage

  /**
   * Creates a container and starts the agent in it; resolves once the engine reports it running. A failure or an abort
   * leaves nothing behind. `onCreated` is told the id before the start, so that it can be written down first.
   */
  run(
    spec: ContainerSpec,
    options: { signal: AbortSignal; onCreated(id: ContainerId): Promise<void> },
  ): Promise<ContainerId>
  /** A byte stream to the container's agent. Waits for an agent that is only starting. */
  connect(id: ContainerId, signal: AbortSignal): Promise<Duplex>
  /**
   * Stops and removes. One that is already gone is a success, not an error; and one of another instance is not there:
   * nothing happens to it. What of its place cannot be cleared at once is cleared later.
   */
  remove(id: ContainerId, options: { graceSeconds: number }): Promise<void>
  /** Undefined when there is none with this id. */
  inspect(id: ContainerId): Promise<ContainerState | undefined>
  /** All containers of this instance, those that ended included. */
  list(): Promise<ContainerState[]>
  /**
   * Tells of deaths as they happen. `gap` says that some may have been missed, so that a look at all is due: after the
   * engine's service was away, for one. Ends when `signal` aborts.
   */
  watch(listener: EngineListener, signal: AbortSignal): void
  /** Lets go of connections and child processes. Containers run on. */
  close(): Promise<void>
}

/** Differences a caller may need to know, instead of asking which driver it has. */
export interface EngineSupport {
  /** Containers are made from images. */
  readonly images: boolean
  /** Root in a container is nobody on the host. */
  readonly userNamespaces: boolean
  /** Limits of processor, memory and processes are enforced. */
  readonly limits: boolean
  /** A container can have a network of its own, or none. */
  readonly networks: boolean
  /** What is `isolated` has the network of the host itself, so a port is the same inside and outside. */
  readonly hostNetwork?: boolean
  readonly volumes: boolean
}

export interface EngineListener {
  died(death: { readonly id: ContainerId; readonly workspaceId: string }): void
  gap(): void
}

export interface ContainerSpec {
  readonly workspaceId: string
  readonly role: ContainerRole
  /** Small letters, digits and dashes. Only decoration, for people who look at the engine's own list. */
  readonly slug: string
  readonly image: string
  readonly hostname: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: ContainerLimits
  /**
   * `none`: no interface but loopback, so nothing can leave; the host cannot be reached either.
   * `isolated`: out to the world, but not to other containers.
   */
  readonly network: 'none' | 'isolated'
  /** Each bound to the host's loopback address. None without a network. */
  readonly ports: readonly PublishedPort[]
  readonly dns: { readonly servers: readonly string[]; readonly search: readonly string[] }
  readonly mounts: readonly ContainerMount[]
  /** Root can be had inside. Without it no process can ever gain a privilege. */
  readonly sudo: boolean
}

export type ContainerRole = 'workspace' | 'network-sidecar'

/** Undefined means no limit. */
export interface ContainerLimits {
  readonly cpus: number | undefined
  readonly memoryBytes: number | undefined
  readonly pids: number | undefined
  readonly tmpBytes: number | undefined
}

export interface PublishedPort {
  readonly host: number
  readonly container: number
}

export type ContainerMount =
  | { readonly kind: 'volume'; readonly name: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: 'host'; readonly source: string; readonly target: string; readonly readOnly: boolean }

export interface ContainerState {
  readonly id: ContainerId
  readonly workspaceId: string
  readonly role: ContainerRole
  readonly running: boolean
  /** Undefined while it runs, or when the engine does not know. */
  readonly exitCode: number | undefined
  /** Ended because it had used up its memory. */
  readonly outOfMemory: boolean
  /** Epoch seconds. */
  readonly startedAt: number | undefined
}

export interface VolumeStorage {
  /** All volumes of this instance. */
  list(): Promise<Volume[]>
  /** Also tells of a volume that is not ours, so that it is never taken for free. */
  find(name: string): Promise<Volume | 'foreign' | undefined>
  create(name: string, workspaceId: string): Promise<Volume>
  /** Answers false when a container uses it. */
  remove(name: string): Promise<boolean>
}

export interface Volume {
  readonly name: string
  readonly workspaceId: string
  /** Epoch seconds. */
  readonly createdAt: number
}

export interface ImageStorage {
  has(image: string): Promise<boolean>
  /** Fetches it from its registry. `onProgress` is given sentences for people. */
  pull(image: string, options: { signal: AbortSignal; onProgress?(text: string): void }): Promise<void>
}

export type EngineFault =
  /** The engine does not answer. */
  | 'unavailable'
  /** There is no such image here. */
  | 'no_image'
  /** The image cannot run the agent; the message says why. */
  | 'unusable_image'
  /** A port is taken. */
  | 'port_in_use'
  | 'not_running'
  | 'failed'

/** What the engine refused or could not do. `message` says what was tried, and may be shown to an operator. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly fault: EngineFault

  constructor(fault: EngineFault, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.fault = fault
  }
}
