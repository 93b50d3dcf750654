import type { DeathCause } from '@svc/protocol/lifecycle'
import { AppError } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { RestartOutlook } from './lifecycle-news.ts'
import { type RestartEvent, type RestartPolicy, type RestartRecord, stillTrue, transition } from './restart-record.ts'

interface CrashRestartsParts {
  readonly policy: () => RestartPolicy
  readonly start: (workspaceId: string) => Promise<unknown>
  /** Whether workspaces may be started at all. */
  readonly isOpen: () => boolean
  readonly clock: Clock
  readonly log: Logger
}

/** Remembers which workspaces ended by themselves, and starts them again when the operator wants that. */
export class CrashRestarts {
  readonly #parts: CrashRestartsParts
  readonly #records = new Map<string, RestartRecord>()
  readonly #timers = new Map<string, () => void>()

  constructor(parts: CrashRestartsParts) {
    this.#parts = parts
  }

  find(workspaceId: string): RestartRecord | undefined {
    const record = stillTrue(this.#records.get(workspaceId), this.#now())
    if (!record) this.#records.delete(workspaceId)
    return record
  }

  /** Answers what will come of it. */
  died(workspaceId: string, cause: DeathCause): RestartOutlook {
    this.#apply(workspaceId, { type: 'died', cause })
    if (!this.#parts.isOpen()) this.#apply(workspaceId, { type: 'dropped' })
    const record = this.#records.get(workspaceId)
    return {
      attempts: record?.attempts ?? 0,
      inSeconds: record?.state === 'backing-off' ? record.nextAttemptAt - this.#now() : null,
      gaveUp: record?.state === 'crash-loop',
    }
  }

  /** Somebody started or stopped it on purpose. */
  clear(workspaceId: string): void {
    this.#cancel(workspaceId)
    this.#records.delete(workspaceId)
  }

  /** No attempt that is waiting will be made. */
  drop(): void {
    for (const workspaceId of [...this.#timers.keys()]) this.#apply(workspaceId, { type: 'dropped' })
  }

  #apply(workspaceId: string, event: RestartEvent): void {
    this.#cancel(workspaceId)
    const nowSeconds = this.#now()
    const record = transition(this.#records.get(workspaceId), event, { nowSeconds, policy: this.#parts.policy() })
    if (!record) {
      this.#records.delete(workspaceId)
      return
    }
    this.#records.set(workspaceId, record)
    if (record.state !== 'backing-off') return
    const waitMs = (record.nextAttemptAt - nowSeconds) * 1000
    this.#timers.set(
      workspaceId,
      this.#parts.clock.after(waitMs, () => void this.#attempt(workspaceId, record)),
    )
  }

  async #attempt(workspaceId: string, record: RestartRecord): Promise<void> {
    const { policy, start, isOpen, log } = this.#parts
    this.#timers.delete(workspaceId)
    if (!policy().enabled || !isOpen()) return this.#apply(workspaceId, { type: 'dropped' })
    const failure = await start(workspaceId).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    // Somebody started or stopped it on purpose meanwhile: this attempt counts no more.
    if (this.#records.get(workspaceId) !== record) return
    if (!failure) return this.#apply(workspaceId, { type: 'restarted' })
    const { error } = failure
    if (error instanceof AppError && error.code === 'workspace_not_found') return this.clear(workspaceId)
    log.warning('a workspace could not be started again', { workspace: workspaceId, error })
    this.#apply(workspaceId, { type: isOpen() ? 'restart failed' : 'dropped' })
  }

  #cancel(workspaceId: string): void {
    this.#timers.get(workspaceId)?.()
    this.#timers.delete(workspaceId)
  }

  #now(): number {
    return this.#parts.clock.nowMs() / 1000
  }
}
