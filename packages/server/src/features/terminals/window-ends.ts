import type { ContainerTerminals } from './container-terminals.ts'
import type { SharedTerminals } from './shared-terminals.ts'
import type { TerminalWindow } from './window.ts'
import type { Asker, WindowNews } from './window-news.ts'

/** Tells people of windows that are no longer there. */
export class WindowEnds {
  readonly #news: WindowNews
  readonly #shared: SharedTerminals

  constructor(parts: { news: WindowNews; shared: SharedTerminals }) {
    this.#news = parts.news
    this.#shared = parts.shared
  }

  /** The window as it was. Whoever asked for it gets one of the lists as the answer. */
  async tell(
    container: ContainerTerminals,
    window: TerminalWindow,
    askedFor: { windows?: Asker; shared?: Asker } = {},
  ): Promise<void> {
    await this.#news.tell(container, window.ownerId, askedFor.windows)
    if (!window.isShared) return
    this.#shared.tellDeleted(container, window)
    await this.#shared.tell(container, askedFor.shared)
  }

  /** Its shell was found to have ended: those whom it concerns are told, once. */
  async noteEnd(container: ContainerTerminals, window: TerminalWindow): Promise<void> {
    const known = container.windows.forget(window)
    if (known) await this.tell(container, known)
  }

  /** Looks which windows ended while nobody watched them. */
  async refresh(container: ContainerTerminals): Promise<void> {
    const gone = await container.windows.reload()
    for (const ownerId of new Set(gone.map(({ ownerId }) => ownerId))) await this.#news.tell(container, ownerId)
    const shared = gone.filter(({ isShared }) => isShared)
    for (const window of shared) this.#shared.tellDeleted(container, window)
    if (shared.length > 0) await this.#shared.tell(container)
  }
}
