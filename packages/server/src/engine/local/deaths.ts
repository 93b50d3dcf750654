import type { Clock } from '../../kernel/clock.ts'
import type { EngineListener } from '../container-engine.ts'
import { isAlive } from './process-identity.ts'
import type { ProcessRecord } from './process-record.ts'

/** The system tells only a parent of a death: for processes of an earlier server we look. */
const LOOK_EVERY_MS = 1000

interface Parts {
  readonly clock: Clock
  /** Ends what a dead workspace may have left running. */
  readonly onDeath: (record: ProcessRecord) => Promise<void>
}

/** Notices that workspaces end. `look` is called whenever there is reason to; a slow timer stays as a net. */
export class Deaths {
  readonly #clock: Clock
  readonly #onDeath: Parts['onDeath']
  readonly #alive = new Map<string, ProcessRecord>()
  readonly #listeners = new Set<EngineListener>()
  #cancelTimer: (() => void) | undefined

  constructor({ clock, onDeath }: Parts) {
    this.#clock = clock
    this.#onDeath = onDeath
  }

  /** From now on its end is told. */
  expect(record: ProcessRecord): void {
    this.#alive.set(record.id, record)
  }

  listen(listener: EngineListener, signal: AbortSignal): void {
    if (signal.aborted) return
    this.#listeners.add(listener)
    signal.addEventListener('abort', () => this.#leave(listener), { once: true })
    this.#cancelTimer ??= this.#lookLater()
  }

  async look(): Promise<void> {
    for (const record of [...this.#alive.values()]) {
      if (await isAlive(record.main)) continue
      // Looks may overlap: only one of them tells.
      if (!this.#alive.delete(record.id)) continue
      await this.#onDeath(record)
      for (const listener of this.#listeners) listener.died({ id: record.id, workspaceId: record.workspaceId })
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #leave(listener: EngineListener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.close()
  }

  #lookLater(): () => void {
    return this.#clock.after(LOOK_EVERY_MS, () => {
      void this.look().finally(() => {
        if (this.#listeners.size > 0) this.#cancelTimer = this.#lookLater()
      })
    })
  }
}
