import type { ServerFrame } from '@svc/protocol/ws/server-frames'
import type { Peer, Peers } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import { windowsToWire } from './window.ts'

/** Somebody who asked for something: they get the news as the answer. */
export interface Asker {
  readonly peer: Peer
  reply(frame: ServerFrame): void
}

/** Tells people which windows they have. */
export class WindowNews {
  readonly #attachments: Pick<Attachments, 'in' | 'allows'>
  readonly #peers: Peers

  constructor(parts: { attachments: Pick<Attachments, 'in' | 'allows'>; peers: Peers }) {
    this.#attachments = parts.attachments
    this.#peers = parts.peers
  }

  /**
   * To all connections of the owner; those who have the workspace open get the list itself, and at once. Whoever holds a
   * workspace can say that its windows are anybody's: somebody who may have none there is told nothing.
   */
  async tell(container: ContainerTerminals, userId: string, asker?: Asker): Promise<void> {
    const { windows, workspaceId } = container
    const wire = () => windowsToWire(windows.ownedBy(userId), windows.lastUsedBy(userId))
    const list: ServerFrame = { type: 'terminal_windows', windows: wire() }
    for (const attachment of this.#attachments.in(workspaceId)) {
      if (attachment.userId !== userId) continue
      if (attachment.peer === asker?.peer) asker.reply(list)
      else attachment.peer.send(list)
    }
    if (!(await this.#attachments.allows({ userId, workspaceId }, 'code-in-isolation'))) return
    const changed: ServerFrame = { type: 'terminals_changed', workspace_id: workspaceId, windows: wire() }
    for (const peer of this.#peers.of(userId)) peer.send(changed)
  }

  /** As one connection sees them: active is what it shows itself. */
  listFor(container: ContainerTerminals, attachment: Attachment): ServerFrame {
    const view = container.viewOf(attachment)
    const shown = view?.isJoined ? undefined : view?.window
    const own = container.windows.ownedBy(attachment.userId)
    return { type: 'terminal_windows', windows: windowsToWire(own, shown) }
  }
}
