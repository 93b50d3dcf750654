import type { FrameOf } from '@svc/protocol/ws/client-frames'
import type { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { userEnv } from '../attachments/user-env.ts'
import { isGone } from './agent-refusal.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import type { NewWindow } from './container-windows.ts'
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
    await container.windows.open(await this.#wish(attachment, { name }))
    await this.#parts.news.tell(container, attachment.userId, asker)
  }

  /** One that others may watch from the beginning. */
  async createShared(attachment: Attachment, frame: FrameOf<'create_shared_terminal'>): Promise<ContainerTerminals> {
    const name = requireName(frame.name)
    const container = await this.#parts.running.require(attachment)
    await container.windows.open(await this.#wish(attachment, { name, isShared: true }))
    await this.#parts.news.tell(container, attachment.userId)
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
    await news.tell(container, attachment.userId, asker)
    if (renamed.isShared) await shared.tell(container)
  }

  async list(attachment: Attachment, asker: Asker): Promise<void> {
    const { running, ends, news } = this.#parts
    const container = await running.require(attachment)
    await ends.refresh(container)
    asker.reply(news.listFor(container, attachment))
  }

  /**
   * For a client that does not know that a shell can end: opens a window when there is no other, before anybody hears
   * that there was none. Answers whether it did.
   */
  async replaceLast(container: ContainerTerminals, ended: TerminalView): Promise<boolean> {
    const { clock } = this.#parts
    const { attachment } = ended
    if (this.#isLost(container, attachment) || container.windows.lastUsedBy(attachment.userId)) return false
    const openedAt = this.#replacements.get(ended.window) ?? Number.NEGATIVE_INFINITY
    if (clock.nowMs() - openedAt < SHORT_LIFE_MS) return false
    const window = await container.windows.openFirst(await this.#wish(attachment))
    this.#replacements.set(window, clock.nowMs())
    return true
  }

  /** And then shows one that there is. */
  async showAnother(container: ContainerTerminals, { attachment }: TerminalView): Promise<void> {
    const { viewing } = this.#parts
    const window = container.windows.lastUsedBy(attachment.userId)
    if (!window || this.#isLost(container, attachment) || viewing.find(attachment)) return
    const started = (frame: Parameters<Asker['reply']>[0]) => {
      if (knowsChannels(attachment.peer)) attachment.peer.send(frame)
    }
    await this.#show(container, attachment, { window, started })
  }

  #isLost(container: ContainerTerminals, { left, workspaceId }: Attachment): boolean {
    return left.aborted || this.#parts.running.find(workspaceId) !== container
  }

  /** This connection is told when it is shown; the others at once. */
  async #openFirst(container: ContainerTerminals, attachment: Attachment): Promise<TerminalWindow> {
    const window = await container.windows.openFirst(await this.#wish(attachment))
    await this.#parts.news.tell(container, attachment.userId, { peer: attachment.peer, reply: () => {} })
    return window
  }

  async #wish(
    { userId, userHome, peer }: Attachment,
    { name = requireName(undefined), isShared = false }: { name?: string; isShared?: boolean } = {},
  ): Promise<NewWindow> {
    const { accounts, viewing } = this.#parts
    const standing = await accounts.findStanding(userId)
    return {
      ownerId: userId,
      name,
      isShared,
      size: viewing.sizeOf(peer),
      cwd: userHome,
      env: userEnv({ userId, userHome, handle: standing?.handle ?? '' }),
    }
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
      if (isGone(error)) await this.#parts.ends.noteEnd(container, request.window)
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
