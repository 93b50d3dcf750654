import type { FrameOf } from '@svc/protocol/ws/client-frames'
import { FrameError } from '../../kernel/frame-error.ts'
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
    const { running, shared, viewing } = this.#parts
    const container = await running.require(attachment)
    const own = container.windows.ownedBy(attachment.userId)
    const window = own.find((each) => windowId(each) === frame.window_id)
    if (!window?.isShared) {
      const terminals = await shared.listFor(container, attachment)
      return asker.reply({ type: 'shared_terminals', terminals })
    }
    await container.windows.unshare(window)
    for (const view of container.showing(window)) {
      if (view.isJoined) viewing.end(container, view, { reason: 'kicked' })
    }
    shared.tellDeleted(container, window)
    await shared.tell(container, asker)
  }

  async join(attachment: Attachment, frame: FrameOf<'join_shared_terminal'>, asker: Asker): Promise<void> {
    const { running, viewing, shared, ends } = this.#parts
    const container = await running.require(attachment)
    const mayType = await this.#mayType(attachment)
    // Looked for last: nothing may be waited for between this and the view, which is kicked when it ends.
    const window = findShared(container, frame)
    if (!window) throw new FrameError('invalid', 'This terminal is not shared')
    const access = mayType ? 'read-write' : 'read-only'
    try {
      await viewing.show(container, { attachment, window, access, resume: frame.resume, started: asker.reply })
    } catch (error) {
      if (isGone(error) && container.windows.forget(window)) await ends.tell(container, window)
      throw error
    }
    await shared.tell(container)
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
      if (workspace?.ownerId !== attachment.userId) throw new FrameError(undefined, 'Permission denied')
    }
    await container.windows.close(window, { mayBeLast: true })
    await ends.tell(container, window, { shared: asker })
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
