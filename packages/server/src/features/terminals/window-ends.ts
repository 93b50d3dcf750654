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
    this.#news.tell(container, window.ownerId, askedFor.windows)
    if (!window.isShared) return
    this.#shared.tellDeleted(container, window)
    await this.#shared.tell(container, askedFor.shared)
  }

  /** Looks which windows ended while nobody watched them. */
  async refresh(container: ContainerTerminals): Promise<void> {
    for (const window of await container.windows.reload()) await this.tell(container, window)
  }
}
