import type { Peer } from '../../kernel/peer.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { StageNews } from '../lifecycle/start-stages.ts'
import type { OpenWorkspaces } from './open-workspaces.ts'

interface StartProgressParts {
  readonly open: OpenWorkspaces
  readonly lifecycle: Pick<Lifecycle, 'stages'>
}

/** Tells how far a start has come: to all who wait for it, and to those who have the workspace open. */
export class StartProgress {
  readonly #parts: StartProgressParts
  readonly #waiting = new Map<string, Set<Peer>>()

  constructor(parts: StartProgressParts) {
    this.#parts = parts
  }

  /** The answer ends it. */
  begin(): () => void {
    return this.#parts.lifecycle.stages.news.subscribe((news) => this.#tell(news))
  }

  /** The socket waits for a start, which may be under way: it is told the stages so far. The answer ends it. */
  follow(peer: Peer, workspaceId: string): () => void {
    const waiting = this.#waiting.get(workspaceId) ?? new Set()
    waiting.add(peer)
    this.#waiting.set(workspaceId, waiting)
    for (const news of this.#parts.lifecycle.stages.soFar(workspaceId)) send(peer, news)
    return () => {
      waiting.delete(peer)
      if (waiting.size === 0) this.#waiting.delete(workspaceId)
    }
  }

  #tell(news: StageNews): void {
    const { workspaceId } = news
    const peers = new Set(this.#waiting.get(workspaceId))
    for (const { peer } of this.#parts.open.in(workspaceId)) peers.add(peer)
    for (const peer of peers) send(peer, news)
  }
}

function send(peer: Peer, { workspaceId, stage, detail, elapsedMs }: StageNews): void {
  if (!peer.has('progress')) return
  const known = detail === undefined ? {} : { detail }
  peer.send({ type: 'container_progress', workspaceId, stage, ...known, elapsed_ms: Math.round(elapsedMs) })
}
