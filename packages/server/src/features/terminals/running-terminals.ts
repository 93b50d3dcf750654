import type { Clock } from '../../kernel/clock.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { ContainerTerminals } from './container-terminals.ts'

interface Entry {
  readonly container: ContainerTerminals
  readonly loaded: Promise<unknown>
}

/** The terminals of all containers that somebody has looked at since they, or the server, began. */
export class RunningTerminals {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(parts: { clock: Clock }) {
    this.#clock = parts.clock
  }

  /** Those of the container that runs now, with all its windows known. */
  async require(attachment: Attachment): Promise<ContainerTerminals> {
    const running = attachment.requireRunning()
    const known = this.#entries.get(running.workspaceId)
    if (known?.container.containerId === running.containerId) {
      await known.loaded
      return known.container
    }
    const container = new ContainerTerminals(running, this.#clock)
    const loaded = container.windows.reload()
    this.#entries.set(running.workspaceId, { container, loaded })
    try {
      await loaded
    } catch (error) {
      this.take(running.workspaceId, container)
      throw error
    }
    return container
  }

  find(workspaceId: string): ContainerTerminals | undefined {
    return this.#entries.get(workspaceId)?.container
  }

  /** Forgets them, and answers what is forgotten. */
  take(workspaceId: string, expected = this.find(workspaceId)): ContainerTerminals | undefined {
    if (!expected || this.find(workspaceId) !== expected) return undefined
    this.#entries.delete(workspaceId)
    expected.end()
    return expected
  }

  all(): ContainerTerminals[] {
    return [...this.#entries.values()].map(({ container }) => container)
  }
}
