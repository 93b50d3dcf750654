import type { AgentClient } from '../../agent/agent-client.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { StartedWith } from '../workspaces/started-with.ts'
import type { StopRequest } from './lifecycle-news.ts'

/** A workspace whose container runs, for those who have something to do in it. */
export interface RunningWorkspace {
  readonly workspaceId: string
  readonly containerId: string
  /** May be another one after a while: take it anew for each piece of work. */
  readonly agent: AgentClient
  /** Epoch seconds. */
  readonly startedAt: number
  /** Somebody uses it. */
  touch(): void
}

export interface ContainerFacts extends StartedWith {
  readonly workspaceId: string
  readonly containerId: string
  readonly ownerId: string
  /** Epoch seconds, as the next. */
  readonly startedAt: number
  readonly serviceStartedAt: number
}

/** A container with an agent that answers, as long as memory knows of it. */
export class RunningContainer implements RunningWorkspace {
  readonly facts: ContainerFacts
  readonly #clock: Clock
  #agent: AgentClient
  #lastActivityMs: number
  #state: 'running' | 'stopping' = 'running'
  #unmetStop: StopRequest | undefined

  constructor(facts: ContainerFacts, agent: AgentClient, clock: Clock) {
    this.facts = facts
    this.#agent = agent
    this.#clock = clock
    this.#lastActivityMs = clock.nowMs()
  }

  get workspaceId(): string {
    return this.facts.workspaceId
  }

  get containerId(): string {
    return this.facts.containerId
  }

  get startedAt(): number {
    return this.facts.startedAt
  }

  get agent(): AgentClient {
    return this.#agent
  }

  get lastActivityMs(): number {
    return this.#lastActivityMs
  }

  get state(): 'running' | 'stopping' {
    return this.#state
  }

  touch(): void {
    this.#lastActivityMs = this.#clock.nowMs()
  }

  /** The same agent, by another connection. */
  reconnected(agent: AgentClient): void {
    this.#agent = agent
  }

  /** Nobody may find it any more. */
  stopping(): void {
    this.#state = 'stopping'
  }

  /** The engine could not stop it, or could not say. Should it end now, that is the stop somebody asked for. */
  runsOn(asked: StopRequest): void {
    this.#state = 'running'
    this.#unmetStop = asked
  }

  get unmetStop(): StopRequest | undefined {
    return this.#unmetStop
  }

  /** Somebody wants it to run after all. */
  keep(): void {
    this.#unmetStop = undefined
  }
}
