import type { SharedTerminal } from '@svc/protocol/ws/server-frames'
import { Background } from '../../kernel/background.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Peers } from '../../kernel/peer.ts'
import { Repeated } from '../../kernel/repeated.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { LifecycleNews } from '../lifecycle/lifecycle-news.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'
import { agentRefusal } from './agent-refusal.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import { OwnTerminals } from './own-terminals.ts'
import { RunningTerminals } from './running-terminals.ts'
import { SharedTerminals } from './shared-terminals.ts'
import { Sharing } from './sharing.ts'
import { ShownTerminal } from './shown-terminal.ts'
import type { TerminalView } from './terminal-view.ts'
import { type ViewEnd, Viewing } from './viewing.ts'
import { WindowEnds } from './window-ends.ts'
import { WindowNews } from './window-news.ts'

/** The agent tells only those who watch a terminal that its shell has ended; for the others it is asked. */
const REFRESH_MS = 5_000

interface LiveTerminalsParts {
  readonly attachments: Attachments
  readonly peers: Peers
  readonly accounts: Accounts
  readonly workspaces: Pick<Workspaces, 'find'>
  readonly lifecycle: Pick<Lifecycle, 'news'>
  readonly clock: Clock
  /** For the pieces of output: moments that nobody could notice. */
  readonly outputClock: Clock
  readonly log: Logger
}

/** The terminals of all workspaces: what connections show, and what happens to it. */
export class LiveTerminals {
  readonly own: OwnTerminals
  readonly sharing: Sharing
  readonly shown: ShownTerminal
  readonly #parts: LiveTerminalsParts
  readonly #running: RunningTerminals
  readonly #viewing: Viewing
  readonly #news: WindowNews
  readonly #shared: SharedTerminals
  readonly #ends: WindowEnds
  readonly #background: Background
  readonly #refreshing: Repeated
  /** Those that are being looked at. */
  readonly #refreshed = new Set<ContainerTerminals>()
  readonly #subscriptions: (() => void)[] = []

  constructor(parts: LiveTerminalsParts) {
    this.#parts = parts
    const { attachments, accounts, clock, outputClock, log } = parts
    this.#background = new Background(log)
    this.#running = new RunningTerminals({ clock })
    this.#viewing = new Viewing({
      allows: (attachment, permission) => attachments.allows(attachment, permission),
      clock,
      outputClock,
      onEnded: (container, view, end) => this.#ended(container, view, end),
      onLeft: (container, view) => this.#left(container, view),
    })
    const news = new WindowNews(parts)
    const shared = new SharedTerminals(parts)
    const ends = new WindowEnds({ news, shared })
    const [running, viewing] = [this.#running, this.#viewing]
    this.#news = news
    this.#shared = shared
    this.#ends = ends
    this.own = new OwnTerminals({ running, viewing, news, shared, ends, accounts, clock, background: this.#background })
    this.sharing = new Sharing({
      ...parts,
      ...{ running, viewing, shared, ends },
      own: this.own,
      background: this.#background,
    })
    this.shown = new ShownTerminal({ attachments, viewing })
    const work = () => this.#refreshAll()
    this.#refreshing = new Repeated({ what: 'looking for windows that ended', everyMs: REFRESH_MS, work, clock, log })
  }

  begin(): void {
    const { lifecycle, attachments } = this.#parts
    this.#subscriptions.push(
      lifecycle.news.subscribe((news) => this.#heard(news)),
      attachments.rightsChanged.subscribe((attachment) => {
        this.#run('looking at what may be watched', () => this.#lookAtRights(attachment))
      }),
    )
    void this.#refreshing.start()
  }

  async end(): Promise<void> {
    for (const unsubscribe of this.#subscriptions.splice(0)) unsubscribe()
    await this.#refreshing.stop()
    // A client that takes nothing, or an agent that does not answer, would otherwise be waited for.
    for (const { workspaceId, views } of this.#running.all()) {
      this.#running.take(workspaceId)
      for (const view of views) this.#viewing.leave(view.attachment)
    }
    await this.#background.settled()
  }

  /** What somebody may watch now. */
  async sharedList(attachment: Attachment): Promise<SharedTerminal[]> {
    if (!attachment.find()) return []
    try {
      return await this.#shared.listFor(await this.#running.require(attachment), attachment)
    } catch (error) {
      throw agentRefusal(error)
    }
  }

  #heard(news: LifecycleNews): void {
    const { workspaceId, kind } = news
    if (kind === 'stopping' || kind === 'died') {
      const container = this.#running.take(workspaceId)
      for (const view of container?.views ?? []) {
        if (container) this.#viewing.end(container, view, { reason: 'container' })
      }
    } else if (kind === 'reconnected') {
      const container = this.#running.find(workspaceId)
      if (container) this.#run('going on with terminals', () => this.#reconnected(container))
    }
  }

  async #reconnected(container: ContainerTerminals): Promise<void> {
    await container.reconnected()
    await this.#refresh(container)
  }

  /** The view is gone, and those who can be told were. */
  #ended(container: ContainerTerminals, view: TerminalView, end: ViewEnd): void {
    if (end.reason !== 'exited') {
      if (end.reason === 'container' && this.#isRunning(container)) this.#left(container, view)
      return
    }
    this.#run('telling of the end of a window', () => this.#tellEnd(container, view))
  }

  async #tellEnd(container: ContainerTerminals, view: TerminalView): Promise<void> {
    const known = container.windows.forget(view.window)
    const isToBeReplaced = !view.isJoined && !view.attachment.peer.has('exit')
    let isReplaced = false
    try {
      if (isToBeReplaced) isReplaced = await this.own.replaceLast(container, view)
    } finally {
      if (known) await this.#ends.tell(container, known)
      else if (isReplaced) await this.#news.tell(container, view.attachment.userId)
    }
    if (isToBeReplaced) await this.own.showAnother(container, view)
  }

  #left(container: ContainerTerminals, view: TerminalView): void {
    if (!view.isJoined || !this.#isRunning(container)) return
    this.#run('telling who watches', () => this.#shared.tell(container))
  }

  async #lookAtRights(attachment: Attachment): Promise<void> {
    const { attachments } = this.#parts
    const shown = this.#viewing.find(attachment)
    if (shown) {
      const { container, view } = shown
      await attachments.endUnlessAllowed(attachment, [view.needs], () => {
        this.#viewing.end(container, view, { reason: 'kicked' })
        this.#left(container, view)
      })
    }
    const container = this.#running.find(attachment.workspaceId)
    if (container) await this.#shared.tellAnew(container, attachment)
  }

  #isRunning(container: ContainerTerminals): boolean {
    return this.#running.find(container.workspaceId) === container
  }

  /** Each by itself: an agent that takes its time keeps no other workspace waiting, and is not asked twice at once. */
  async #refreshAll(): Promise<void> {
    const { attachments } = this.#parts
    for (const container of this.#running.all()) {
      if (this.#refreshed.has(container) || attachments.in(container.workspaceId).length === 0) continue
      this.#refreshed.add(container)
      this.#background.run('looking for windows that ended', () =>
        this.#refresh(container).finally(() => this.#refreshed.delete(container)),
      )
    }
  }

  /** An agent that is away is asked again when it is back. */
  async #refresh(container: ContainerTerminals): Promise<void> {
    await this.#unlessAway('looking for windows that ended', () => this.#ends.refresh(container))
  }

  #run(what: string, work: () => Promise<void>): void {
    this.#background.run(what, () => this.#unlessAway(what, work))
  }

  /** A workspace may stop, and a person may leave, in the middle of anything: that is no fault. */
  async #unlessAway(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const refusal = agentRefusal(error)
      if (!(refusal instanceof FrameError)) throw error
      this.#parts.log.debug(`${what} came too late`, { error: refusal })
    }
  }
}
