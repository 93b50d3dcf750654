import { AgentError } from '../../agent/agent-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { HealthCheck } from '../workspaces/workspace.ts'
import { deadline } from './deadline.ts'
import { type CheckPlan, type HealthTimes, healthMessage, planOf, sameCheck } from './health-result.ts'
import type { HealthNews } from './lifecycle-news.ts'

/** A service that just started is looked at more often, until it is well for the first time. */
const EAGER_MS = 3_000
const JITTER = 0.1
/** What the agent may take beyond the check's own time before its silence counts as a failure. */
const ANSWER_MS = 5_000
/** A busy machine is behind with its timers; beyond this something is wrong. */
const LATE_MS = 10_000

export interface HealthSubject {
  readonly workspaceId: string
  /** Epoch seconds. */
  readonly serviceStartedAt: number
  checkHealth(
    command: string,
    timeoutMs: number,
    options: { signal: AbortSignal },
  ): Promise<{ code: number | null; output: string }>
}

export interface HealthState {
  /** Null before the first result that counts. */
  readonly healthy: boolean | null
  readonly message: string | null
  /** Epoch seconds. */
  readonly checkedAt: number | null
  readonly seq: number
}

/** The last result that counts. */
export interface HealthReport extends HealthState {
  readonly workspaceId: string
  readonly healthy: boolean
}

const UNKNOWN: HealthState = { healthy: null, message: null, checkedAt: null, seq: 0 }

interface Watched {
  readonly subject: HealthSubject
  check: HealthCheck | null
  state: HealthState
  cancel: (() => void) | undefined
  /** When the next step is due: the check is made, or has its answer. Undefined while there is nothing to check. */
  dueMs: number | undefined
  /** A workspace has one check under way at most. Its agent does the waiting, so workspaces need no turns. */
  asking: AbortController | undefined
}

interface HealthChecksParts {
  /** As it is now; null for none, or none yet. */
  readonly checkOf: (workspaceId: string) => Promise<HealthCheck | null>
  readonly settings: () => HealthTimes
  readonly announce: (workspaceId: string, news: HealthNews) => void
  readonly clock: Clock
  readonly log: Logger
  /** From 0 to 1, so that the checks of many workspaces do not fall together. */
  readonly random: () => number
}

/** Asks running workspaces how their services do, each in its own rhythm. Nothing is done about a bad answer. */
export class HealthChecks {
  readonly #parts: HealthChecksParts
  readonly #watched = new Map<string, Watched>()

  constructor(parts: HealthChecksParts) {
    this.#parts = parts
  }

  /** From now on; a container that was watched before under the same id is forgotten. */
  watch(subject: HealthSubject): void {
    this.forget(subject.workspaceId)
    const watched: Watched = {
      subject,
      check: null,
      state: UNKNOWN,
      cancel: undefined,
      dueMs: undefined,
      asking: undefined,
    }
    this.#watched.set(subject.workspaceId, watched)
    this.#plan(watched, 0)
  }

  /** Undefined when it is not watched. */
  find(workspaceId: string): HealthState | undefined {
    return this.#watched.get(workspaceId)?.state
  }

  known(): HealthReport[] {
    return [...this.#watched].flatMap(([workspaceId, { state }]) =>
      state.healthy === null ? [] : [{ ...state, healthy: state.healthy, workspaceId }],
    )
  }

  /** Whether everything that is due has been done. */
  get isOnTime(): boolean {
    const lateMs = this.#parts.clock.nowMs() - LATE_MS
    return this.#watched.values().every(({ dueMs }) => dueMs === undefined || dueMs > lateMs)
  }

  /** The workspace may have another check now: its old results tell nothing then. */
  recheck(workspaceId: string): void {
    const watched = this.#watched.get(workspaceId)
    if (watched) this.#plan(watched, 0)
  }

  /** The container ends: says so once, if there was anything to say of its health, and forgets it. */
  finish(workspaceId: string, message: string | null): void {
    const watched = this.#watched.get(workspaceId)
    this.forget(workspaceId)
    if (!watched || watched.check === null) return
    const { checkedAt, seq } = watched.state
    this.#parts.announce(workspaceId, { healthy: false, message, running: false, checkedAt, seq: seq + 1 })
  }

  forget(workspaceId: string): void {
    const watched = this.#watched.get(workspaceId)
    watched?.cancel?.()
    watched?.asking?.abort()
    this.#watched.delete(workspaceId)
  }

  end(): void {
    for (const workspaceId of [...this.#watched.keys()]) this.forget(workspaceId)
  }

  #plan(watched: Watched, delayMs: number): void {
    const { settings, clock, log, random } = this.#parts
    watched.cancel?.()
    const { workspaceId } = watched.subject
    const spread = delayMs * (1 + JITTER * (2 * random() - 1))
    watched.dueMs = clock.nowMs() + spread
    watched.cancel = clock.after(spread, () => {
      watched.cancel = undefined
      this.#check(watched).catch((error: unknown) => {
        if (!this.#isWatched(watched)) return
        log.error('a health check could not be made', { workspace: workspaceId, error })
        if (!watched.cancel) this.#plan(watched, 1000 * settings().healthCheckIntervalSeconds)
      })
    })
  }

  async #check(watched: Watched): Promise<void> {
    const check = await this.#presentCheck(watched)
    const plan = check && planOf(check, this.#parts.settings())
    watched.dueMs = plan ? this.#parts.clock.nowMs() + plan.timeoutMs + ANSWER_MS : undefined
    // The same check is being made already: its answer counts, and the next comes after it.
    if (!plan || !this.#isWatched(watched) || watched.asking) return
    const asking = new AbortController()
    watched.asking = asking
    const message = await this.#ask(watched.subject, plan, asking.signal)
    if (watched.asking === asking) watched.asking = undefined
    if (!this.#isWatched(watched) || watched.check !== check) return
    const inGrace = this.#parts.clock.nowMs() < watched.subject.serviceStartedAt * 1000 + plan.graceMs
    if (message !== undefined && (message === null || !inGrace)) this.#note(watched, message)
    // Somebody asked for another look meanwhile.
    if (watched.cancel) return
    const isEager = inGrace && watched.state.healthy === null
    this.#plan(watched, isEager ? Math.min(EAGER_MS, plan.intervalMs) : plan.intervalMs)
  }

  /** Read each time, so that a changed check counts from its first run. */
  async #presentCheck(watched: Watched): Promise<HealthCheck | null> {
    const check = await this.#parts.checkOf(watched.subject.workspaceId)
    if (sameCheck(check, watched.check)) return watched.check
    watched.asking?.abort()
    watched.asking = undefined
    watched.state = { ...UNKNOWN, seq: watched.state.seq }
    watched.check = check
    return check
  }

  /** Null for a service that is well; undefined when nobody could be asked. */
  async #ask(
    subject: HealthSubject,
    { command, timeoutMs }: CheckPlan,
    until: AbortSignal,
  ): Promise<string | null | undefined> {
    const { signal, done } = deadline(this.#parts.clock, timeoutMs + ANSWER_MS, 'the health check', until)
    try {
      return healthMessage(await subject.checkHealth(command, timeoutMs, { signal }), timeoutMs)
    } catch (error) {
      if (signal.aborted) return healthMessage({ code: null, output: '' }, timeoutMs)
      // The agent is away: that is told elsewhere, and says nothing of the service.
      return error instanceof AgentError ? error.message : undefined
    } finally {
      done()
    }
  }

  #note(watched: Watched, message: string | null): void {
    const { clock, announce } = this.#parts
    const before = watched.state
    const healthy = message === null
    const checkedAt = clock.nowMs() / 1000
    const seq = before.healthy === healthy ? before.seq : before.seq + 1
    watched.state = { healthy, message, checkedAt, seq }
    if (seq !== before.seq) announce(watched.subject.workspaceId, { healthy, message, running: true, checkedAt, seq })
  }

  #isWatched(watched: Watched): boolean {
    return this.#watched.get(watched.subject.workspaceId) === watched
  }
}
