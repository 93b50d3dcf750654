import { sshAgentSocket } from '@svc/protocol/agent/requests'
import type { FrameOf } from '@svc/protocol/ws/client-frames'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { isGone } from './agent-refusal.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import type { RunningTerminals } from './running-terminals.ts'
import type { SharedTerminals } from './shared-terminals.ts'
import type { TerminalView } from './terminal-view.ts'
import { knowsChannels, type Resume, type Viewing } from './viewing.ts'
import { requireName, type TerminalWindow, windowId } from './window.ts'
import type { WindowEnds } from './window-ends.ts'
import type { Asker, WindowNews } from './window-news.ts'

/** A shell that ended sooner than this, and was opened in the place of another, is not replaced again. */
const SHORT_LIFE_MS = 5_000

interface OwnTerminalsParts {
  readonly running: RunningTerminals
  readonly viewing: Viewing
  readonly news: WindowNews
  readonly shared: SharedTerminals
  readonly ends: WindowEnds
  readonly accounts: Pick<Accounts, 'findStanding'>
  readonly clock: Clock
  readonly background: Background
}

/** What people do with their own windows. */
export class OwnTerminals {
  readonly #parts: OwnTerminalsParts
  /** Windows opened because a shell had ended, and when. */
  readonly #replacements = new WeakMap<TerminalWindow, number>()

  constructor(parts: OwnTerminalsParts) {
    this.#parts = parts
  }

  async start(attachment: Attachment, frame: FrameOf<'terminal_start'>, asker: Asker): Promise<void> {
    const { running, viewing, ends, news, shared, background } = this.#parts
    viewing.noteSize(attachment.peer, frame)
    const container = await running.require(attachment)
    await ends.refresh(container)
    const window = chooseWindow(container, attachment.userId, frame) ?? (await this.#openFirst(container, attachment))
    const { shown } = await this.#show(container, attachment, { window, resume: frame.resume, started: asker.reply })
    // Keys that follow need not wait for the screen, which may be long.
    background.run('listing windows', async () => {
      await shown
      attachment.peer.send(news.listFor(container, attachment))
      const terminals = await shared.listFor(container, attachment)
      attachment.peer.send({ type: 'shared_terminals', terminals })
    })
  }

  /** Only this connection shows another one. Those who know it by its channel are told; others just see it. */
  async select(attachment: Attachment, frame: FrameOf<'terminal_select_window'>, asker: Asker): Promise<void> {
    const { running, viewing } = this.#parts
    const container = await running.require(attachment)
    const window = container.windows.requireOwn(attachment.userId, frame)
    const isChannelKnown = knowsChannels(attachment.peer)
    const view = viewing.find(attachment)?.view
    if (!isChannelKnown && view?.access === 'own' && view.window.n === window.n) return
    const started = isChannelKnown ? asker.reply : () => {}
    await this.#show(container, attachment, { window, resume: frame.resume, started })
  }

  async create(attachment: Attachment, frame: FrameOf<'terminal_new_window'>, asker: Asker): Promise<void> {
    const name = requireName(frame.name)
    const container = await this.#parts.running.require(attachment)
    await this.#open(container, attachment, name)
    this.#parts.news.tell(container, attachment.userId, asker)
  }

  /** One that others may watch from the beginning. */
  async createShared(attachment: Attachment, frame: FrameOf<'create_shared_terminal'>): Promise<ContainerTerminals> {
    const name = requireName(frame.name)
    const container = await this.#parts.running.require(attachment)
    await this.#open(container, attachment, name, { isShared: true })
    this.#parts.news.tell(container, attachment.userId)
    return container
  }

  async close(attachment: Attachment, frame: FrameOf<'terminal_close_window'>, asker: Asker): Promise<void> {
    const { running, ends } = this.#parts
    const container = await running.require(attachment)
    const window = container.windows.requireOwn(attachment.userId, frame)
    await container.windows.close(window, { mayBeLast: false })
    await ends.tell(container, window, { windows: asker })
  }

  async rename(attachment: Attachment, frame: FrameOf<'terminal_rename_window'>, asker: Asker): Promise<void> {
    const { running, news, shared } = this.#parts
    const name = requireName(frame.name)
    const container = await running.require(attachment)
    const own = container.windows.requireOwn(attachment.userId, frame)
    const renamed = await container.windows.rename(own, name)
    news.tell(container, attachment.userId, asker)
    if (renamed.isShared) await shared.tell(container)
  }

  async list(attachment: Attachment, asker: Asker): Promise<void> {
    const { running, ends, news } = this.#parts
    const container = await running.require(attachment)
    await ends.refresh(container)
    asker.reply(news.listFor(container, attachment))
  }

  /** For a client that does not know that a shell can end: it is shown another of its windows, or a new one. */
  async showAnother(container: ContainerTerminals, ended: TerminalView): Promise<void> {
    const { viewing, clock, running, news } = this.#parts
    const { attachment } = ended
    const isLost = attachment.left.aborted || running.find(container.workspaceId) !== container
    if (isLost || viewing.find(attachment)) return
    const started = (frame: Parameters<Asker['reply']>[0]) => {
      if (knowsChannels(attachment.peer)) attachment.peer.send(frame)
    }
    const other = container.windows.lastUsedBy(attachment.userId)
    if (other) {
      await this.#show(container, attachment, { window: other, started })
      return
    }
    const openedAt = this.#replacements.get(ended.window) ?? Number.NEGATIVE_INFINITY
    if (clock.nowMs() - openedAt < SHORT_LIFE_MS) return
    const window = await this.#open(container, attachment, requireName(undefined))
    this.#replacements.set(window, clock.nowMs())
    news.tell(container, attachment.userId)
    if (!viewing.find(attachment)) await this.#show(container, attachment, { window, started })
  }

  /** This connection is told when it is shown; the others at once. */
  async #openFirst(container: ContainerTerminals, attachment: Attachment): Promise<TerminalWindow> {
    const window = await this.#open(container, attachment, requireName(undefined))
    this.#parts.news.tell(container, attachment.userId, { peer: attachment.peer, reply: () => {} })
    return window
  }

  async #open(
    container: ContainerTerminals,
    attachment: Attachment,
    name: string,
    options: { isShared: boolean } = { isShared: false },
  ): Promise<TerminalWindow> {
    const { accounts, viewing } = this.#parts
    const { userId, userHome, peer } = attachment
    const standing = await accounts.findStanding(userId)
    return container.windows.open({
      ownerId: userId,
      name,
      isShared: options.isShared,
      size: viewing.sizeOf(peer),
      cwd: userHome,
      env: {
        HOME: userHome,
        SVCWS_USER_ID: userId,
        SVCWS_USER_HANDLE: standing?.handle ?? '',
        SSH_AUTH_SOCK: sshAgentSocket(userId),
      },
    })
  }

  async #show(
    container: ContainerTerminals,
    attachment: Attachment,
    request: { window: TerminalWindow; resume?: Resume | undefined; started: Asker['reply'] },
  ): Promise<{ readonly shown: Promise<void> }> {
    try {
      return await this.#parts.viewing.show(container, { attachment, access: 'own', ...request })
    } catch (error) {
      // Ended while nobody looked.
      if (isGone(error) && container.windows.forget(request.window))
        await this.#parts.ends.tell(container, request.window)
      throw error
    }
  }
}

/** The one to come back to, or the one asked for, or the one used last. */
function chooseWindow(
  { windows }: ContainerTerminals,
  userId: string,
  wish: { resume?: Resume | undefined; window_id?: string | undefined },
): TerminalWindow | undefined {
  const own = windows.ownedBy(userId)
  const { resume, window_id: id } = wish
  return (
    (resume && own.find(({ channel }) => channel === resume.channel)) ??
    own.find((window) => windowId(window) === id) ??
    windows.lastUsedBy(userId)
  )
}
