import type { AgentClient } from '../../agent/agent-client.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Attachment } from '../attachments/attachment.ts'
import type { RunningWorkspace } from '../lifecycle/running-container.ts'
import { ContainerWindows } from './container-windows.ts'
import { type Size, sizeFor } from './terminal-size.ts'
import type { TerminalView } from './terminal-view.ts'
import type { TerminalWindow } from './window.ts'

/** The terminals of one container: which windows there are, and who is looking at them. */
export class ContainerTerminals {
  readonly workspaceId: string
  readonly containerId: string
  readonly windows: ContainerWindows
  readonly #running: RunningWorkspace
  readonly #views = new Map<Attachment, TerminalView>()
  /** What each window was last asked to be, or said that it is. */
  readonly #sizes = new Map<number, Size>()
  readonly #over = new AbortController()
  #uses = 0

  constructor(running: RunningWorkspace, clock: Clock) {
    this.workspaceId = running.workspaceId
    this.containerId = running.containerId
    this.#running = running
    this.windows = new ContainerWindows({ agent: () => running.agent, ended: this.#over.signal, clock })
  }

  /** Of this container, also when the workspace has another by now. */
  get agent(): AgentClient {
    return this.#running.agent
  }

  /** The container has stopped, or is about to: nothing of it may be shown any more. */
  get isOver(): boolean {
    return this.#over.signal.aborted
  }

  end(): void {
    this.#over.abort()
  }

  get views(): readonly TerminalView[] {
    return [...this.#views.values()]
  }

  viewOf(attachment: Attachment): TerminalView | undefined {
    return this.#views.get(attachment)
  }

  /** All views of a window. */
  showing({ n }: TerminalWindow): TerminalView[] {
    return this.views.filter(({ window }) => window.n === n)
  }

  isShown(view: TerminalView): boolean {
    return this.#views.get(view.attachment) === view
  }

  /** In the place of what the connection showed before. */
  show(view: TerminalView): void {
    const before = this.#views.get(view.attachment)
    before?.close()
    this.#views.set(view.attachment, view)
    this.#noteUse(view)
    if (before && before.window.n !== view.window.n) this.#settleAfter(before)
  }

  /** Only if it is the one that is shown. */
  remove(view: TerminalView): void {
    view.close()
    if (!this.isShown(view)) return
    this.#views.delete(view.attachment)
    this.#settleAfter(view)
  }

  /** Somebody resized or typed: when it is the owner, the terminal takes the size of that viewer. */
  used(view: TerminalView): void {
    const wasLatest = view.usedAt === this.#uses
    this.#noteUse(view)
    if (!wasLatest) this.settleSize(view.window)
  }

  /** The size that a window should have with these viewers. */
  sizeOf(window: TerminalWindow): Size | undefined {
    return sizeFor(this.showing(window))
  }

  settleSize(window: TerminalWindow): void {
    const size = this.sizeOf(window)
    const known = this.#sizes.get(window.n)
    if (!size || (known?.cols === size.cols && known.rows === size.rows)) return
    this.#sizes.set(window.n, size)
    this.showing(window)
      .find(({ access }) => access !== 'read-only')
      ?.resize(size)
  }

  noteSize({ n }: TerminalWindow, size: Size): void {
    this.#sizes.set(n, size)
  }

  /** The agent was lost and is there again: views go on, and it may not have heard which sizes were asked for. */
  async reconnected(): Promise<void> {
    await Promise.all(this.views.map((view) => view.reconnected(this.agent)))
    this.#sizes.clear()
    for (const { window } of this.views) this.settleSize(window)
  }

  #settleAfter({ window }: TerminalView): void {
    if (this.showing(window).length > 0) this.settleSize(window)
    else this.#sizes.delete(window.n)
  }

  #noteUse(view: TerminalView): void {
    if (view.usedAt !== this.#uses || this.#uses === 0) view.usedAt = ++this.#uses
    if (view.access === 'own') this.windows.noteUse(view.window)
  }
}
