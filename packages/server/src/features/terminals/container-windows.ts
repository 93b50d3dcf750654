import { randomInt } from 'node:crypto'
import { SERVICE_TERMINAL } from '@svc/protocol/agent/requests'
import type { AgentClient } from '../../agent/agent-client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { FrameError } from '../../kernel/frame-error.ts'
import { FifoLock } from '../../storage/fifo-lock.ts'
import { deadline } from '../lifecycle/deadline.ts'
import type { Size } from './terminal-size.ts'
import {
  labelOf,
  MAX_CHANNEL,
  SERVICE_WINDOW,
  type TerminalWindow,
  terminalId,
  windowFrom,
  windowId,
} from './window.ts'

/** More than anybody keeps an eye on; the agent has an end as well, which one person should not take from others. */
const MAX_WINDOWS_EACH = 64
const ANSWER_LIMIT_MS = 30_000

export interface NewWindow {
  readonly ownerId: string
  readonly name: string
  readonly isShared: boolean
  readonly size: Size
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * All windows of one container. Changes are made one after the other, and are in the agent's labels before anybody is told
 * of them; the labels are read when a container is first looked at, and when the agent was away.
 */
export class ContainerWindows {
  readonly #agent: () => AgentClient
  readonly #ended: AbortSignal
  readonly #clock: Clock
  readonly #writing = new FifoLock()
  readonly #windows = new Map<number, TerminalWindow>()
  /** Those that are over, though the agent may still list them: no number is used again. */
  readonly #over = new Set<number>()
  readonly #lastUsed = new Map<string, number>()
  #hasService = false
  #next = 1

  /** `ended`: nobody needs an answer of this container any more. */
  constructor(parts: { agent: () => AgentClient; ended: AbortSignal; clock: Clock }) {
    this.#agent = parts.agent
    this.#ended = parts.ended
    this.#clock = parts.clock
  }

  /** In the order in which they were made. */
  ownedBy(userId: string): TerminalWindow[] {
    return [...this.#windows.values()].filter(({ ownerId }) => ownerId === userId)
  }

  find(n: number): TerminalWindow | undefined {
    if (n === SERVICE_WINDOW.n) return this.#hasService ? SERVICE_WINDOW : undefined
    return this.#windows.get(n)
  }

  /** One of the caller's own, by its id, or by its place for older clients. */
  requireOwn(userId: string, named: { window_id?: string | undefined; index?: number | undefined }): TerminalWindow {
    const own = this.ownedBy(userId)
    const { window_id: id, index = -1 } = named
    const found = id === undefined ? own[index] : own.find((window) => windowId(window) === id)
    if (!found) throw new FrameError('invalid', 'You have no such window')
    return found
  }

  /** What others may watch, whoever it belongs to. */
  shared(): TerminalWindow[] {
    const own = [...this.#windows.values()].filter(({ isShared }) => isShared)
    return this.#hasService ? [SERVICE_WINDOW, ...own] : own
  }

  /** The one that its owner used last. */
  lastUsedBy(userId: string): TerminalWindow | undefined {
    const last = this.#windows.get(this.#lastUsed.get(userId) ?? -1)
    return last?.ownerId === userId ? last : this.ownedBy(userId)[0]
  }

  noteUse({ n, ownerId }: TerminalWindow): void {
    this.#lastUsed.set(ownerId, n)
  }

  /** Compares with what the agent has. Answers the windows that are gone. What the server knows of others wins. */
  reload(): Promise<TerminalWindow[]> {
    return this.#write(async (signal) => {
      const { terminals, opened } = await this.#agent().terminals.list({ signal })
      const listed = new Map<number, string>()
      for (const { id, label } of terminals) {
        const window = windowFrom({ id, label })
        if (!window || this.#over.has(window.n)) continue
        listed.set(window.n, label)
        if (!this.#windows.has(window.n) && !this.#hasChannel(window.channel)) this.#windows.set(window.n, window)
      }
      const hadService = this.#hasService
      this.#hasService = !this.#over.has(SERVICE_WINDOW.n) && terminals.some(({ id }) => id === SERVICE_TERMINAL)
      this.#next = Math.max(this.#next, opened + 1, ...[...listed.keys()].map((n) => n + 1))
      const gone = [...this.#windows.values()].filter(({ n }) => !listed.has(n))
      for (const { n } of gone) this.#windows.delete(n)
      for (const window of this.#windows.values()) {
        // One that ended in this moment has no label any more.
        if (listed.get(window.n) !== labelOf(window)) await this.#label(window, signal).catch(() => {})
      }
      return hadService && !this.#hasService ? [SERVICE_WINDOW, ...gone] : gone
    })
  }

  open(wish: NewWindow): Promise<TerminalWindow> {
    return this.#write((signal) => this.#open(wish, signal))
  }

  /** For somebody without a window. Their tabs may all ask at once: the first opens one, and it is that of all. */
  openFirst(wish: NewWindow): Promise<TerminalWindow> {
    return this.#write(async (signal) => this.lastUsedBy(wish.ownerId) ?? (await this.#open(wish, signal)))
  }

  rename({ n }: TerminalWindow, name: string): Promise<TerminalWindow> {
    return this.#change(n, (window) => ({ ...window, name }))
  }

  share({ n }: TerminalWindow): Promise<TerminalWindow> {
    return this.#change(n, (window) => ({ ...window, isShared: true }))
  }

  /** Counts at once; should the agent be away, its label follows when it is back. */
  unshare({ n }: TerminalWindow): Promise<void> {
    return this.#write(async (signal) => {
      const window = this.#windows.get(n)
      if (!window) return
      const next = { ...window, isShared: false }
      this.#windows.set(n, next)
      await this.#label(next, signal).catch(() => {})
    })
  }

  /** Ends what runs in it. That it has ended is the caller's to tell: it is not known any more when its shell ends. */
  close({ n, ownerId }: TerminalWindow, options: { mayBeLast: boolean }): Promise<void> {
    return this.#write(async (signal) => {
      const window = this.#windows.get(n)
      if (!window) return
      if (!options.mayBeLast && this.ownedBy(ownerId).length === 1) {
        throw new FrameError('conflict', 'The last window cannot be closed')
      }
      this.#windows.delete(n)
      try {
        await this.#agent().terminals.close(terminalId({ n }), { signal })
        this.#over.add(n)
      } catch (error) {
        if (!this.#over.has(n)) this.#windows.set(n, window)
        throw error
      }
    })
  }

  /** Its shell has ended. Answers the window as it was last; undefined when it was not known any more. */
  forget({ n }: TerminalWindow): TerminalWindow | undefined {
    const known = this.find(n)
    this.#over.add(n)
    if (n === SERVICE_WINDOW.n) this.#hasService = false
    else this.#windows.delete(n)
    return known
  }

  async #open(wish: NewWindow, signal: AbortSignal): Promise<TerminalWindow> {
    const { ownerId, name, isShared, size, cwd, env } = wish
    if (this.ownedBy(ownerId).length >= MAX_WINDOWS_EACH) {
      throw new FrameError('conflict', `You have ${MAX_WINDOWS_EACH} windows already: close one first`)
    }
    const window: TerminalWindow = { n: this.#next, ownerId, name, isShared, channel: this.#freeChannel() }
    const request = { id: terminalId(window), label: labelOf(window), ...size, cwd, env }
    await this.#agent().terminals.open(request, { signal })
    this.#next++
    this.#windows.set(window.n, window)
    this.noteUse(window)
    return window
  }

  #change(n: number, change: (window: TerminalWindow) => TerminalWindow): Promise<TerminalWindow> {
    return this.#write(async (signal) => {
      const before = this.#windows.get(n)
      if (!before) throw ended()
      const next = change(before)
      await this.#label(next, signal)
      if (!this.#windows.has(n)) throw ended()
      this.#windows.set(n, next)
      return next
    })
  }

  #label(window: TerminalWindow, signal: AbortSignal): Promise<void> {
    return this.#agent().terminals.label(terminalId(window), labelOf(window), { signal })
  }

  #freeChannel(): number {
    for (;;) {
      const channel = randomInt(1, MAX_CHANNEL)
      if (!this.#hasChannel(channel)) return channel
    }
  }

  #hasChannel(channel: number): boolean {
    return [...this.#windows.values()].some((window) => window.channel === channel)
  }

  /** One after the other; an agent that does not answer holds up the next for no longer than the limit. */
  async #write<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const release = await this.#writing.acquire()
    const late = deadline(this.#clock, ANSWER_LIMIT_MS, 'asking the agent about terminals', this.#ended)
    try {
      return await work(late.signal)
    } catch (error) {
      if (!late.signal.aborted) throw error
      throw new FrameError('container_gone', 'The workspace does not answer: open it again', { cause: error })
    } finally {
      late.done()
      release()
    }
  }
}

const ended = (): FrameError => new FrameError('invalid', 'This window is no longer open')
