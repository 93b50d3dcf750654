import type { Logger } from '../../kernel/logger.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { healthFrame } from './news-frames.ts'
import type { WorkspaceRights } from './workspace-rights.ts'

interface FirstFramesParts {
  readonly lifecycle: Pick<Lifecycle, 'health'>
  readonly rights: Pick<WorkspaceRights, 'allows'>
  readonly log: Logger
}

/** What every socket is told before it says anything. It is among those who are told news by then, so it misses none. */
export class FirstFrames {
  readonly #parts: FirstFramesParts

  constructor(parts: FirstFramesParts) {
    this.#parts = parts
  }

  async send(peer: Peer): Promise<void> {
    try {
      await this.#health(peer)
    } catch (error) {
      this.#parts.log.error('a socket was not told how the services do', { error })
    }
    peer.send({ type: 'server_schedule', schedules: [] })
  }

  async #health(peer: Peer): Promise<void> {
    const { lifecycle, rights } = this.#parts
    for (const { workspaceId, seq } of lifecycle.health()) {
      if (!(await rights.allows(peer.caller.userId, 'monitor-workspace', workspaceId))) continue
      // Whatever changed while rights were read is told as news: this would come after it and be older.
      const report = lifecycle.health().find((one) => one.workspaceId === workspaceId)
      if (report?.seq === seq) peer.send(healthFrame(workspaceId, { ...report, running: true }))
    }
  }
}
