import type { ServerFrame, TerminalEnd } from '@svc/protocol/ws/server-frames'
import type { Clock } from '../../kernel/clock.ts'
import { actionDenied, FrameError } from '../../kernel/frame-error.ts'
import type { Peer } from '../../kernel/peer.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { Attachments } from '../attachments/attachments.ts'
import { deadline } from '../lifecycle/deadline.ts'
import type { ContainerTerminals } from './container-terminals.ts'
import { FIRST_SIZE, type Size, sizeFrom, type TerminalAccess } from './terminal-size.ts'
import type { StreamStart } from './terminal-stream.ts'
import { TerminalView } from './terminal-view.ts'
import { SERVICE_WINDOW, type TerminalWindow, windowId } from './window.ts'

const START_LIMIT_MS = 30_000

export interface Resume {
  readonly channel: number
  readonly offset: number
}

interface ShowRequest {
  readonly attachment: Attachment
  readonly window: TerminalWindow
  readonly access: TerminalAccess
  readonly resume?: Resume | undefined
  /** Told before anything is shown. */
  readonly started: (frame: ServerFrame) => void
}

interface ViewingParts {
  readonly allows: Attachments['allows']
  readonly clock: Clock
  /** For output: moments that nobody could notice, so tests need not move it. */
  readonly outputClock: Clock
  /** The view is closed by then. */
  readonly onEnded: (container: ContainerTerminals, view: TerminalView, end: ViewEnd) => void
  /** The connection shows it no longer. */
  readonly onLeft: (container: ContainerTerminals, view: TerminalView) => void
}

export type ViewEnd =
  | { readonly reason: 'exited'; readonly code: number | undefined }
  | { readonly reason: Exclude<TerminalEnd, 'exited'> }

export interface Shown {
  readonly container: ContainerTerminals
  readonly view: TerminalView
}

/** What each connection shows: one terminal at a time. */
export class Viewing {
  readonly #parts: ViewingParts
  /** As clients said last, whether they showed a terminal then or not. */
  readonly #sizes = new WeakMap<Peer, Size>()
  readonly #watched = new WeakSet<Attachment>()
  readonly #shown = new WeakMap<Attachment, Shown>()

  constructor(parts: ViewingParts) {
    this.#parts = parts
  }

  sizeOf(peer: Peer): Size {
    return this.#sizes.get(peer) ?? FIRST_SIZE
  }

  noteSize(peer: Peer, said: { cols?: number | undefined; rows?: number | undefined }): Size {
    const size = sizeFrom(this.sizeOf(peer), said)
    this.#sizes.set(peer, size)
    return size
  }

  find(attachment: Attachment): Shown | undefined {
    return this.#shown.get(attachment)
  }

  /**
   * Resolves when the client was told; `shown` does when it got the screen, or goes on without one. What the connection
   * showed before is left.
   */
  async show(container: ContainerTerminals, request: ShowRequest): Promise<{ readonly shown: Promise<void> }> {
    const { attachment, started } = request
    if (attachment.left.aborted) throw attachment.left.reason
    if (container.isOver) throw containerGone()
    const view = this.#newView(container, request)
    this.#take(container, view)
    const late = deadline(this.#parts.clock, START_LIMIT_MS, 'showing a terminal')
    late.signal.addEventListener('abort', () => view.close())
    try {
      const start = await this.#open(container, view, request)
      attachment.touch()
      started(startedFrame(view, start))
      return { shown: view.begin(start) }
    } catch (error) {
      if (!container.isShown(view)) throw closedMeanwhile()
      this.#remove(container, view)
      this.#parts.onLeft(container, view)
      throw late.signal.aborted ? containerGone() : error
    } finally {
      late.done()
    }
  }

  /** The connection shows nothing any more. The shell lives on. */
  leave(attachment: Attachment): void {
    const shown = this.#shown.get(attachment)
    if (!shown) return
    this.#remove(shown.container, shown.view)
    this.#parts.onLeft(shown.container, shown.view)
  }

  /** Ends a view against the will of who looks at it. */
  end(container: ContainerTerminals, view: TerminalView, end: ViewEnd): void {
    if (!container.isShown(view)) return
    this.#remove(container, view)
    const { peer } = view.attachment
    if (peer.has('exit')) peer.send(exitedFrame(view.window, end))
    this.#parts.onEnded(container, view, end)
  }

  async #open(container: ContainerTerminals, view: TerminalView, { resume }: ShowRequest): Promise<StreamStart> {
    const { window, access, attachment } = view
    // Only now: whatever is taken away from here on finds the view.
    if (!(await this.#parts.allows(attachment, view.needs))) throw actionDenied()
    if (!container.isShown(view)) throw closedMeanwhile()
    const resizeTo = access === 'read-only' ? undefined : container.sizeOf(window)
    if (resizeTo) container.noteSize(window, resizeTo)
    const start = await view.open(container.agent, { from: placeIn(window, resume), resizeTo })
    if (!container.isShown(view)) throw closedMeanwhile()
    return start
  }

  #take(container: ContainerTerminals, view: TerminalView): void {
    const { attachment } = view
    const before = this.#shown.get(attachment)
    if (!this.#watched.has(attachment)) attachment.onLeft(() => this.leave(attachment))
    this.#watched.add(attachment)
    this.#shown.set(attachment, { container, view })
    container.show(view)
    if (!before) return
    if (before.container !== container) before.container.remove(before.view)
    this.#parts.onLeft(before.container, before.view)
  }

  #remove(container: ContainerTerminals, view: TerminalView): void {
    container.remove(view)
    if (this.#shown.get(view.attachment)?.view === view) this.#shown.delete(view.attachment)
  }

  #newView(container: ContainerTerminals, { attachment, window, access }: ShowRequest): TerminalView {
    return new TerminalView({
      attachment,
      window,
      access,
      size: this.sizeOf(attachment.peer),
      clock: this.#parts.outputClock,
      onExited: (view, code) => this.end(container, view, { reason: 'exited', code }),
      onFailed: (view) => this.end(container, view, { reason: 'container' }),
      onResized: (_view, size) => container.noteSize(window, size),
    })
  }
}

/** Whether a client knows terminals by their channel, and so must be told which one it is shown. */
export const knowsChannels = (peer: Peer): boolean =>
  peer.has('resume') || peer.has('flow') || peer.has('bin') || peer.has('size')

function startedFrame(view: TerminalView, { offset, isResumed, cols, rows }: StreamStart): ServerFrame {
  const { window, access, isJoined } = view
  const readOnly = access === 'read-only'
  const place = isJoined ? { shared_user_id: window.ownerId, shared_window: window.name, readOnly } : {}
  if (!knowsChannels(view.attachment.peer)) return { type: 'terminal_started', ...place }
  const { channel } = window
  return {
    type: 'terminal_started',
    ...place,
    window_id: windowId(window),
    channel,
    offset,
    resumed: isResumed,
    cols,
    rows,
  }
}

function exitedFrame({ channel }: TerminalWindow, end: ViewEnd): ServerFrame {
  const { reason } = end
  if (reason !== 'exited' || end.code === undefined) return { type: 'terminal_exited', channel, reason }
  return { type: 'terminal_exited', channel, reason, code: end.code }
}

/** Where the client can go on. The channel of the service is the same in every container, so there it proves nothing. */
const placeIn = ({ n, channel }: TerminalWindow, resume: Resume | undefined): number | undefined =>
  n !== SERVICE_WINDOW.n && resume?.channel === channel ? resume.offset : undefined

const containerGone = (): FrameError =>
  new FrameError('container_gone', 'The workspace has stopped or does not answer: open it again')
const closedMeanwhile = (): FrameError => new FrameError('conflict', 'The terminal was closed meanwhile')
