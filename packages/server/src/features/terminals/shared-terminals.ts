import { systemAgent } from '@svc/protocol/system-agent'
import type { SharedTerminal } from '@svc/protocol/ws/server-frames'
import type { Accounts } from '../accounts/accounts.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import { SERVICE_WINDOW, type TerminalWindow, windowId } from './window.ts'
import type { Asker } from './window-news.ts'

interface SharedTerminalsParts {
  readonly attachments: Pick<Attachments, 'in' | 'allows' | 'broadcast'>
  readonly accounts: Pick<Accounts, 'findStanding' | 'peekStanding'>
}

/** Tells people which terminals they may watch, and who watches them. Others learn of nothing but their own. */
export class SharedTerminals {
  readonly #parts: SharedTerminalsParts
  /** Whether the list that somebody has is the whole one. */
  readonly #sawAll = new WeakMap<Attachment, boolean>()

  constructor(parts: SharedTerminalsParts) {
    this.#parts = parts
  }

  async listFor(container: ContainerTerminals, attachment: Attachment): Promise<SharedTerminal[]> {
    const [mayWatch] = await this.#prepare(container, [attachment])
    return this.#list(container, attachment, mayWatch)
  }

  /** To everybody who has the workspace open. */
  async tell(container: ContainerTerminals, asker?: Asker): Promise<void> {
    const everybody = [...this.#parts.attachments.in(container.workspaceId)]
    const rights = await this.#prepare(container, everybody)
    // From here on nothing is waited for: a list is never older than one that was sent before it.
    for (const [at, attachment] of everybody.entries()) {
      if (attachment.left.aborted) continue
      const terminals = this.#list(container, attachment, rights[at])
      if (attachment.peer === asker?.peer) asker.reply({ type: 'shared_terminals', terminals })
      else attachment.peer.send({ type: 'shared_terminals', terminals })
    }
  }

  /** What somebody may do has changed: only they are told, and only if they see more or less than before. */
  async tellAnew(container: ContainerTerminals, attachment: Attachment): Promise<void> {
    const before = this.#sawAll.get(attachment)
    const [mayWatch = false] = await this.#prepare(container, [attachment])
    if (before === undefined || before === mayWatch || attachment.left.aborted) return
    const terminals = this.#list(container, attachment, mayWatch)
    attachment.peer.send({ type: 'shared_terminals', terminals })
  }

  /** One that others could watch is gone: whoever watched it must know, so everybody in the workspace is told. */
  tellDeleted({ workspaceId }: ContainerTerminals, window: TerminalWindow): void {
    this.#parts.attachments.broadcast(workspaceId, {
      type: 'shared_terminal_deleted',
      user_id: window.ownerId,
      window_name: window.name,
      window_id: windowId(window),
    })
  }

  /** Reads what lists take, so that they can be made without waiting: who of these may watch, and whom they name. */
  async #prepare(container: ContainerTerminals, everybody: readonly Attachment[]): Promise<boolean[]> {
    const { attachments, accounts } = this.#parts
    const owners = new Set(container.windows.shared().map(({ ownerId }) => ownerId))
    for (const ownerId of owners) await accounts.findStanding(ownerId)
    return Promise.all(everybody.map((attachment) => attachments.allows(attachment, 'spectate-on-shared-terminals')))
  }

  #list(container: ContainerTerminals, attachment: Attachment, mayWatch = false): SharedTerminal[] {
    this.#sawAll.set(attachment, mayWatch)
    const visible = container.windows.shared().filter(({ ownerId }) => mayWatch || ownerId === attachment.userId)
    return visible.flatMap((window) => {
      const owner = window.n === SERVICE_WINDOW.n ? systemAgent : this.#parts.accounts.peekStanding(window.ownerId)
      return owner ? [toWire(container, window, owner.handle)] : []
    })
  }
}

function toWire(container: ContainerTerminals, window: TerminalWindow, handle: string): SharedTerminal {
  const viewers = container.showing(window).filter(({ isJoined }) => isJoined)
  return {
    user_id: window.ownerId,
    handle,
    window_name: window.name,
    window_id: windowId(window),
    viewers: viewers.map(({ attachment }) => ({ user_id: attachment.userId, email: attachment.peer.caller.email })),
    is_service: window.n === SERVICE_WINDOW.n,
  }
}
