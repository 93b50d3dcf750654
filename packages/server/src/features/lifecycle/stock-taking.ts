import type { ContainerEngine, ContainerState } from '../../engine/container-engine.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import type { Containers } from './containers.ts'
import type { KeyedLock } from './keyed-lock.ts'
import type { RunningContainer } from './running-container.ts'
import { Slots } from './slots.ts'

/** Containers that are taken up or removed at once. */
const AT_ONCE = 8

interface StockTakingParts {
  readonly engine: Pick<ContainerEngine, 'list' | 'inspect'>
  readonly containers: Containers
  readonly workspaces: Pick<Workspaces, 'find' | 'withContainer'>
  readonly locks: KeyedLock
  readonly adopt: (workspace: Workspace) => Promise<boolean>
  /** One that we count on does not run. */
  readonly onOver: (container: RunningContainer) => Promise<void>
  /** One that we count on runs, and nobody speaks to its agent. */
  readonly onAgentAway: (container: RunningContainer) => void
  readonly log: Logger
}

/**
 * Compares what the engine has with what we know: at the start of the server, and then as a net under the engine's
 * news. What runs and belongs to a workspace is taken up; what belongs to nobody is removed; what is gone is noted.
 */
export class StockTaking {
  readonly #parts: StockTakingParts

  constructor(parts: StockTakingParts) {
    this.#parts = parts
  }

  /** Throws when the engine cannot say what it has. One container that makes trouble does not hold up the others. */
  async take(): Promise<void> {
    const { engine, containers, workspaces } = this.#parts
    // First what we count on, then the list: a container that is started meanwhile is in neither.
    const counted = containers.all()
    const noted = await workspaces.withContainer()
    const listed = await engine.list()
    const running = new Set(listed.filter((state) => state.running).map(({ id }) => id))
    const present = new Set(listed.map(({ id }) => id))
    await this.#each([
      ...counted.map((container) => () => this.#compare(container, running)),
      ...listed.filter(({ role }) => role === 'workspace').map((state) => () => this.#place(state)),
      ...noted.flatMap(({ id, containerId }) =>
        containerId === null || present.has(containerId) ? [] : [() => this.#gone(id, containerId)],
      ),
    ])
  }

  async #each(tasks: readonly (() => Promise<void>)[]): Promise<void> {
    const slots = new Slots(AT_ONCE)
    const guarded = (task: () => Promise<void>) =>
      task().catch((error: unknown) => this.#parts.log.error('a container could not be looked after', { error }))
    await Promise.all(tasks.map((task) => slots.run(() => guarded(task))))
  }

  async #compare(container: RunningContainer, running: ReadonlySet<string>): Promise<void> {
    if (!running.has(container.containerId)) await this.#parts.onOver(container)
    else if (container.agent.lostBecause) this.#parts.onAgentAway(container)
  }

  /** A container the engine has: ours already, one to take up, or one too many. */
  async #place({ id: containerId, workspaceId, running }: ContainerState): Promise<void> {
    const { engine, containers, workspaces, locks, adopt } = this.#parts
    // Somebody is busy with it: the next look will find it settled.
    if (containers.find(workspaceId)?.containerId === containerId || locks.isHeld(workspaceId)) return
    await locks.run(workspaceId, async () => {
      if (containers.find(workspaceId)?.containerId === containerId) return
      const workspace = await workspaces.find(workspaceId)
      if (running && workspace?.containerId === containerId) await adopt(workspace)
      // The list is older than this turn: one that was stopped meanwhile has its row already.
      else if (await engine.inspect(containerId)) await containers.reap(workspaceId, containerId)
    })
  }

  /** A container the engine no longer has. */
  async #gone(workspaceId: string, containerId: string): Promise<void> {
    const { containers, workspaces, locks } = this.#parts
    if (locks.isHeld(workspaceId)) return
    await locks.run(workspaceId, async () => {
      if (containers.find(workspaceId)) return
      const workspace = await workspaces.find(workspaceId)
      if (workspace?.containerId === containerId) await containers.reap(workspaceId, containerId)
    })
  }
}
