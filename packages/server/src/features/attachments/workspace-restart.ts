import type { Peer } from '../../kernel/peer.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { Attachment } from './attachment.ts'
import { startRefusal } from './start-refusal.ts'
import type { StatusFrames } from './status-frames.ts'

interface WorkspaceRestartParts {
  readonly lifecycle: Pick<Lifecycle, 'renew' | 'find'>
  readonly status: StatusFrames
}

/** Starts a workspace anew for everybody in it. Those who want it at the same time get one restart. */
export class WorkspaceRestart {
  readonly #parts: WorkspaceRestartParts
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(parts: WorkspaceRestartParts) {
    this.#parts = parts
  }

  /** Resolves when it runs again. Throws a `FrameError` when it does not; everybody has been told what is true then. */
  restart({ workspaceId, peer }: Attachment): Promise<void> {
    const present = this.#underWay.get(workspaceId)
    if (present) return present
    const restart = this.#restart(workspaceId, peer).finally(() => this.#underWay.delete(workspaceId))
    this.#underWay.set(workspaceId, restart)
    return restart
  }

  async #restart(workspaceId: string, { caller, request }: Peer): Promise<void> {
    const { lifecycle, status } = this.#parts
    const actor = { type: 'user', id: caller.userId } as const
    status.restartBegins(workspaceId)
    try {
      await lifecycle.renew(workspaceId, { actor, externalUrl: request.externalUrl })
    } catch (error) {
      throw startRefusal(error)
    } finally {
      status.restartEnds(workspaceId)
    }
  }
}
