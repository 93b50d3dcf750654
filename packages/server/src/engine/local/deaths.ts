import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { EngineListener } from '../container-engine.ts'
import { isAlive } from './process-identity.ts'
import type { ProcessRecord } from './process-record.ts'

/** The system tells only a parent of a death: for processes of an earlier server we look. */
const LOOK_EVERY_MS = 1000

interface Parts {
  readonly clock: Clock
  /** Ends what a dead workspace may have left running. */
  readonly onDeath: (record: ProcessRecord) => Promise<void>
  readonly log: Logger
}

/** Notices that workspaces end. `look` is called whenever there is reason to; a slow timer stays as a net. */
export class Deaths {
  readonly #clock: Clock
  readonly #onDeath: Parts['onDeath']
  readonly #log: Logger
  readonly #alive = new Map<string, ProcessRecord>()
  readonly #listeners = new Set<EngineListener>()
  #cancelTimer: (() => void) | undefined

  constructor({ clock, onDeath, log }: Parts) {
    this.#clock = clock
    this.#onDeath = onDeath
    this.#log = log
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

  /** Never fails: the next look, or the removal of what died, tries again. */
  async look(): Promise<void> {
    for (const record of [...this.#alive.values()]) {
      await this.#lookAt(record).catch((error: unknown) => this.#warn('could not look at a workspace', record, error))
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  async #lookAt(record: ProcessRecord): Promise<void> {
    if (await isAlive(record.main)) return
    // Looks may overlap: only one of them tells.
    if (!this.#alive.delete(record.id)) return
    await this.#onDeath(record).catch((error: unknown) =>
      this.#warn('could not end what a workspace left running', record, error),
    )
    for (const listener of this.#listeners) listener.died({ id: record.id, workspaceId: record.workspaceId })
  }

  #warn(message: string, { workspaceId }: ProcessRecord, error: unknown): void {
    this.#log.warning(message, { error, workspace_id: workspaceId })
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
