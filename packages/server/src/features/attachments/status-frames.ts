import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Logger } from '../../kernel/logger.ts'
import type { Peers } from '../../kernel/peer.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { type LifecycleNews, reasonFor } from '../lifecycle/lifecycle-news.ts'
import type { Attachment } from './attachment.ts'
import { eventFrame, framesFor, stopped, type Told } from './news-frames.ts'
import type { OpenWorkspaces } from './open-workspaces.ts'
import type { WorkspaceRights } from './workspace-rights.ts'

interface StatusFramesParts {
  readonly open: OpenWorkspaces
  readonly peers: Peers
  readonly lifecycle: Pick<Lifecycle, 'news' | 'find'>
  readonly rights: Pick<WorkspaceRights, 'allows'>
  readonly log: Logger
}

/** Tells people what happens to containers: those who may monitor a workspace, and those who have it open. */
export class StatusFrames {
  readonly #parts: StatusFramesParts
  /** Rights must be read, which may take a while: what is said of one workspace is said in order all the same. */
  readonly #lines = new Map<string, Promise<void>>()
  readonly #restarts = new Map<string, { isReady: boolean }>()

  constructor(parts: StatusFramesParts) {
    this.#parts = parts
  }

  /** The answer ends it. */
  begin(): () => void {
    return this.#parts.lifecycle.news.subscribe((news) => this.#heard(news))
  }

  /** Somebody in the workspace wants it started anew: until that is over nobody is told that it stopped. */
  restartBegins(workspaceId: string): void {
    this.#restarts.set(workspaceId, { isReady: false })
    const value = { reason: reasonFor('restart') }
    this.#tell(workspaceId, [{ to: 'attached', event: { name: 'container_restart', value } }])
  }

  /** Whoever was told of it is told the end of it: usually that has happened, unless it failed. */
  restartEnds(workspaceId: string): void {
    const isTold = this.#restarts.get(workspaceId)?.isReady
    this.#restarts.delete(workspaceId)
    if (isTold) return
    const runs = this.#parts.lifecycle.find(workspaceId) !== undefined
    const ready = { name: 'container_ready', value: { reason: 'The workspace was not restarted' } } as const
    this.#tell(workspaceId, [{ to: 'attached', event: runs ? ready : stopped(reasonFor('restart')) }])
  }

  /** Resolves when all that has happened so far was told. */
  async settled(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all(this.#lines.values())
  }

  #heard(news: LifecycleNews): void {
    const restart = this.#restarts.get(news.workspaceId)
    if (restart && news.kind === 'started') restart.isReady = true
    if (restart && news.kind === 'stopped' && news.cause === 'restart') return
    this.#tell(news.workspaceId, framesFor(news))
  }

  #tell(workspaceId: string, all: readonly Told[]): void {
    if (all.length === 0) return
    // Those of this moment: who opens it from now on finds it as it is, and is told so.
    const attached = this.#parts.open.in(workspaceId)
    const before = this.#lines.get(workspaceId) ?? Promise.resolve()
    const line = before
      .then(() => this.#send(workspaceId, all, attached))
      .catch((error: unknown) =>
        this.#parts.log.error('not everybody was told about a workspace', { workspace: workspaceId, error }),
      )
      .finally(() => {
        if (this.#lines.get(workspaceId) === line) this.#lines.delete(workspaceId)
      })
    this.#lines.set(workspaceId, line)
  }

  async #send(workspaceId: string, all: readonly Told[], attached: readonly Attachment[]): Promise<void> {
    for (const told of all) {
      if (told.to === 'monitors') await this.#toMonitors(workspaceId, told.frame)
      else for (const { peer, left } of attached) if (!left.aborted) peer.send(eventFrame(told.event))
    }
  }

  /** Decided once for each person, and at this moment: nobody is told on the strength of what they once were allowed. */
  async #toMonitors(workspaceId: string, frame: ServerFrame): Promise<void> {
    const { peers, rights } = this.#parts
    const userIds = new Set(Array.from(peers.all(), ({ caller }) => caller.userId))
    for (const userId of userIds) {
      if (!(await rights.allows(userId, 'monitor-workspace', workspaceId))) continue
      for (const peer of peers.of(userId)) peer.send(frame)
    }
  }
}
