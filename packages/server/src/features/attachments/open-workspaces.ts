import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from './attachment.ts'

/** Who has which workspace open: only that, so that those who merely ask need nothing else to exist. */
export class OpenWorkspaces {
  readonly #byPeer = new Map<Peer, Attachment>()
  readonly #byWorkspace = new Map<string, Set<Attachment>>()

  /** The socket has no other one open. */
  add(attachment: Attachment): void {
    this.#byPeer.set(attachment.peer, attachment)
    const others = this.#byWorkspace.get(attachment.workspaceId)
    if (others) others.add(attachment)
    else this.#byWorkspace.set(attachment.workspaceId, new Set([attachment]))
  }

  remove(attachment: Attachment): void {
    const { peer, workspaceId } = attachment
    if (this.#byPeer.get(peer) === attachment) this.#byPeer.delete(peer)
    const all = this.#byWorkspace.get(workspaceId)
    all?.delete(attachment)
    if (all?.size === 0) this.#byWorkspace.delete(workspaceId)
  }

  find(peer: Peer): Attachment | undefined {
    return this.#byPeer.get(peer)
  }

  /** Those of this moment: who leaves or comes meanwhile changes nothing about them. */
  in(workspaceId: string): readonly Attachment[] {
    return [...(this.#byWorkspace.get(workspaceId) ?? [])]
  }

  all(): readonly Attachment[] {
    return [...this.#byPeer.values()]
  }

  hasClients(workspaceId: string): boolean {
    return this.#byWorkspace.has(workspaceId)
  }
}
