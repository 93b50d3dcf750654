import type { ContainerEngine } from '../../engine/container-engine.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Containers } from './containers.ts'
import { deadline } from './deadline.ts'
import type { KeyedLock } from './keyed-lock.ts'
import { type StopRequest, SYSTEM } from './lifecycle-news.ts'
import type { PendingStarts } from './pending-starts.ts'

/** Whatever is not stopped by then runs on, and the next server looks after it. */
const DRAIN_MS = 30_000

interface DrainParts {
  readonly engine: Pick<ContainerEngine, 'list' | 'inspect'>
  readonly containers: Containers
  readonly starts: PendingStarts
  readonly locks: KeyedLock
  readonly stop: (workspaceId: string, by: StopRequest) => Promise<void>
  /** For whoever holds the lock. */
  readonly stopNow: (workspaceId: string, by: StopRequest) => Promise<void>
  readonly clock: Clock
  readonly log: Logger
}

/** Stops everything at once. One that makes trouble is logged and holds up no other. */
export class Drain {
  readonly #parts: DrainParts

  constructor(parts: DrainParts) {
    this.#parts = parts
  }

  async run(cause: 'drain' | 'shutdown'): Promise<void> {
    const { clock, log } = this.#parts
    const late = deadline(clock, DRAIN_MS, 'stopping all workspaces')
    const tooLate = new Promise<unknown>((resolve) => late.signal.addEventListener('abort', resolve))
    await Promise.race([this.#stopAll({ cause, actor: SYSTEM }), tooLate])
    late.done()
    if (late.signal.aborted) log.error('not all workspaces could be stopped', { error: late.signal.reason })
  }

  async #stopAll(by: StopRequest): Promise<void> {
    const { engine, containers, starts, stop, log } = this.#parts
    const trouble = (workspaceId: string) => (error: unknown) =>
      log.error('a workspace could not be stopped', { workspace: workspaceId, error })
    await Promise.all(containers.all().map(({ workspaceId: id }) => stop(id, by).catch(trouble(id))))
    await starts.settled()
    try {
      // Whatever came up in spite of the closed gate, or was never taken up.
      const left = await engine.list()
      await Promise.all(left.map(({ id, workspaceId }) => this.#clear(workspaceId, id, by).catch(trouble(workspaceId))))
    } catch (error) {
      log.error('the engine could not be asked for what is left', { error })
    }
  }

  async #clear(workspaceId: string, containerId: string, by: StopRequest): Promise<void> {
    const { engine, containers, locks, stopNow } = this.#parts
    await locks.run(workspaceId, async () => {
      await stopNow(workspaceId, by)
      if (await engine.inspect(containerId)) await containers.reap(workspaceId, containerId)
    })
  }
}
