import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { WorkspaceTokens } from '../workspace-tokens/workspace-tokens.ts'
import { deadline } from './deadline.ts'
import type { RunningContainer } from './running-container.ts'

/** The share of its life after which a token is replaced. */
const RENEW_AT = 0.8
const RETRY_MS = 60_000
/** An agent that is there answers at once. */
const WRITE_MS = 15_000
/** However short a token lives, and however the clock was moved. */
const SHORTEST_WAIT_MS = 1_000
/** Timers of the system cannot wait for longer than some weeks. */
const LONGEST_WAIT_MS = 86_400_000

/** Keeps the token in every running workspace fresh, whether or not somebody is there. */
export class TokenRenewals {
  readonly #tokens: WorkspaceTokens
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timers = new Map<string, () => void>()

  constructor(parts: { tokens: WorkspaceTokens; clock: Clock; log: Logger }) {
    this.#tokens = parts.tokens
    this.#clock = parts.clock
    this.#log = parts.log
  }

  begin(container: RunningContainer, expiresAt: number): void {
    const leftMs = expiresAt * 1000 - this.#clock.nowMs()
    this.#renewAfter(container, Math.min(Math.max(leftMs * RENEW_AT, SHORTEST_WAIT_MS), LONGEST_WAIT_MS))
  }

  forget(workspaceId: string): void {
    this.#timers.get(workspaceId)?.()
    this.#timers.delete(workspaceId)
  }

  end(): void {
    for (const workspaceId of [...this.#timers.keys()]) this.forget(workspaceId)
  }

  #renewAfter(container: RunningContainer, delayMs: number): void {
    this.forget(container.workspaceId)
    const cancel = this.#clock.after(delayMs, () => void this.#renew(container, cancel))
    this.#timers.set(container.workspaceId, cancel)
  }

  async #renew(container: RunningContainer, timer: () => void): Promise<void> {
    const { workspaceId, containerId } = container
    const isOurs = () => this.#timers.get(workspaceId) === timer
    try {
      const { token, expiresAt } = await this.#tokens.issue(workspaceId, containerId)
      await this.#write(container, token)
      if (isOurs()) this.begin(container, expiresAt)
    } catch (error) {
      if (!isOurs()) return
      this.#log.warning('a workspace token could not be renewed', { workspace: workspaceId, error })
      this.#renewAfter(container, RETRY_MS)
    }
  }

  async #write({ agent }: RunningContainer, token: string): Promise<void> {
    const late = deadline(this.#clock, WRITE_MS, 'writing the token')
    try {
      await agent.writeToken(token, { signal: late.signal })
    } finally {
      late.done()
    }
  }
}
