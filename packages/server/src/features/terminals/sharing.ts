import type { FrameOf } from '@svc/protocol/ws/client-frames'
import type { Background } from '../../kernel/background.ts'
import { actionDenied, FrameError } from '../../kernel/frame-error.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { isGone } from './agent-refusal.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import type { OwnTerminals } from './own-terminals.ts'
import type { RunningTerminals } from './running-terminals.ts'
import type { SharedTerminals } from './shared-terminals.ts'
import type { Viewing } from './viewing.ts'
import { SERVICE_WINDOW, type TerminalWindow, windowId } from './window.ts'
import type { WindowEnds } from './window-ends.ts'
import type { Asker } from './window-news.ts'

interface SharingParts {
  readonly running: RunningTerminals
  readonly viewing: Viewing
  readonly own: OwnTerminals
  readonly shared: SharedTerminals
  readonly ends: WindowEnds
  readonly attachments: Pick<Attachments, 'allows'>
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly background: Background
}

/** Letting others watch a window, and watching those of others. */
export class Sharing {
  readonly #parts: SharingParts

  constructor(parts: SharingParts) {
    this.#parts = parts
  }

  async share(attachment: Attachment, frame: FrameOf<'share_window'>, asker: Asker): Promise<void> {
    const { running, shared } = this.#parts
    const container = await running.require(attachment)
    await container.windows.share(container.windows.requireOwn(attachment.userId, frame))
    await shared.tell(container, asker)
  }

  /** Only those who watch this window lose it. Always answered, also when it was not shared. */
  async unshare(attachment: Attachment, frame: FrameOf<'unshare_window'>, asker: Asker): Promise<void> {
    const { running, shared } = this.#parts
    const container = await running.require(attachment)
    const own = container.windows.ownedBy(attachment.userId)
    const window = own.find((each) => windowId(each) === frame.window_id)
    if (!window?.isShared) {
      const terminals = await shared.listFor(container, attachment)
      return asker.reply({ type: 'shared_terminals', terminals })
    }
    await container.windows.unshare(window)
    this.#kick(container, window)
    shared.tellDeleted(container, window)
    await shared.tell(container, asker)
  }

  async join(attachment: Attachment, frame: FrameOf<'join_shared_terminal'>, asker: Asker): Promise<void> {
    const { running, viewing, ends } = this.#parts
    const container = await running.require(attachment)
    const mayType = await this.#mayType(attachment)
    // Looked for last: nothing may be waited for between this and the view, which is kicked when it ends.
    const window = findShared(container, frame)
    if (!window) throw new FrameError('invalid', 'This terminal is not shared')
    const access = mayType ? 'read-write' : 'read-only'
    try {
      const request = { attachment, window, access, resume: frame.resume, started: asker.reply } as const
      const { shown } = await viewing.show(container, request)
      await this.#tellOfViewer(container, attachment, shown)
    } catch (error) {
      if (isGone(error)) await ends.noteEnd(container, window)
      throw error
    }
  }

  async list(attachment: Attachment, asker: Asker): Promise<void> {
    const { running, shared } = this.#parts
    const container = await running.require(attachment)
    asker.reply({ type: 'shared_terminals', terminals: await shared.listFor(container, attachment) })
  }

  async create(attachment: Attachment, frame: FrameOf<'create_shared_terminal'>, asker: Asker): Promise<void> {
    const container = await this.#parts.own.createShared(attachment, frame)
    await this.#parts.shared.tell(container, asker)
  }

  /** Closes the window itself. */
  async delete(attachment: Attachment, frame: FrameOf<'delete_shared_terminal'>, asker: Asker): Promise<void> {
    const { running, workspaces, ends } = this.#parts
    const container = await running.require(attachment)
    const window = findShared(container, frame)
    if (!window) throw new FrameError('invalid', 'This terminal is not shared')
    if (window.n === SERVICE_WINDOW.n) throw new FrameError('invalid', 'The terminal of the service cannot be closed')
    if (window.ownerId !== attachment.userId) {
      const workspace = await workspaces.find(attachment.workspaceId)
      if (workspace?.ownerId !== attachment.userId) throw actionDenied()
    }
    this.#kick(container, window)
    await container.windows.close(window, { mayBeLast: true })
    await ends.tell(container, window, { shared: asker })
  }

  /** Whoever watches it sees nothing more of it, not even its end. */
  #kick(container: ContainerTerminals, window: TerminalWindow): void {
    for (const view of container.showing(window)) {
      if (view.isJoined) this.#parts.viewing.end(container, view, { reason: 'kicked' })
    }
  }

  /** The others hear at once who watches; who watches hears after the screen, which keys need not wait for. */
  async #tellOfViewer(container: ContainerTerminals, attachment: Attachment, shown: Promise<void>): Promise<void> {
    const { shared, background } = this.#parts
    await shared.tell(container, { peer: attachment.peer, reply: () => {} })
    background.run('listing what is shared', async () => {
      await shown
      const terminals = await shared.listFor(container, attachment)
      if (!attachment.left.aborted) attachment.peer.send({ type: 'shared_terminals', terminals })
    })
  }

  /** As it is now; whoever joined keeps what they had then. */
  async #mayType(attachment: Attachment): Promise<boolean> {
    const { attachments } = this.#parts
    if (await attachments.allows(attachment, 'code-in-shared-terminals')) return true
    return attachments.allows(attachment, 'share-terminals')
  }
}

const findShared = (
  { windows }: ContainerTerminals,
  named: { user_id: string; window_id: string },
): TerminalWindow | undefined =>
  windows.shared().find((window) => window.ownerId === named.user_id && windowId(window) === named.window_id)
