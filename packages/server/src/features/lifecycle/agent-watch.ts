import type { AgentClient } from '../../agent/agent-client.ts'
import { type ContainerEngine, EngineError } from '../../engine/container-engine.ts'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import { deadline } from './deadline.ts'
import { AGENT_LOST, type Death } from './death.ts'
import type { RunningContainer } from './running-container.ts'

/** How long an agent may stay away before its workspace counts as lost. */
const RECONNECT_MS = 15_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000
/** A connection that lasted so long counts as one. */
const STEADY_MS = 10_000
const MAX_QUICK_LOSSES = 5

interface AgentWatchParts {
  readonly engine: Pick<ContainerEngine, 'inspect'>
  readonly connect: (containerId: string, signal: AbortSignal) => Promise<AgentClient>
  readonly onReconnected: (container: RunningContainer) => void
  /** Without a death the container itself is over, and its state tells why. */
  readonly onLost: (container: RunningContainer, death: Death | undefined) => void
  readonly clock: Clock
}

/** Holds on to the agents of running containers: a connection that is lost is made again. */
export class AgentWatch {
  readonly #parts: AgentWatchParts
  readonly #end = new AbortController()
  readonly #seeking = new Set<RunningContainer>()
  /** When an agent came back last, and how often it was gone again soon after. */
  readonly #returns = new WeakMap<RunningContainer, { readonly atMs: number; readonly quickLosses: number }>()

  constructor(parts: AgentWatchParts) {
    this.#parts = parts
  }

  watch(container: RunningContainer): void {
    const { agent } = container
    void agent.lost.then(() => {
      if (container.agent === agent) void this.seek(container)
    })
  }

  end(): void {
    this.#end.abort(new Error('the server is ending'))
  }

  /** Never fails. Also for a container whose agent was given up while the engine was away. */
  async seek(container: RunningContainer): Promise<void> {
    if (container.state !== 'running' || this.#end.signal.aborted || this.#seeking.has(container)) return
    this.#seeking.add(container)
    const late = deadline(this.#parts.clock, RECONNECT_MS, 'finding the agent', this.#end.signal)
    try {
      if (this.#isFickle(container)) this.#parts.onLost(container, AGENT_LOST)
      else await this.#seekUntil(container, late.signal)
    } finally {
      late.done()
      this.#seeking.delete(container)
    }
  }

  async #seekUntil(container: RunningContainer, signal: AbortSignal): Promise<void> {
    const { engine, connect, onReconnected, onLost, clock } = this.#parts
    let engineIsAway = false
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const state = await engine.inspect(container.containerId)
        engineIsAway = false
        if (container.state !== 'running') return
        if (!state?.running) return onLost(container, undefined)
        const agent = await connect(container.containerId, signal)
        if (container.state !== 'running') return agent.close()
        container.reconnected(agent)
        this.#reconnected(container)
        this.watch(container)
        return onReconnected(container)
      } catch (error) {
        engineIsAway = error instanceof EngineError && error.fault === 'unavailable'
      }
      if (signal.aborted || container.state !== 'running') break
      await pause(clock, pauseMs, signal)
    }
    // An engine that is away says nothing of its containers: they are looked at again when it is back.
    if (this.#end.signal.aborted || container.state !== 'running' || engineIsAway) return
    onLost(container, AGENT_LOST)
  }

  #reconnected(container: RunningContainer): void {
    const { quickLosses = 0 } = this.#returns.get(container) ?? {}
    this.#returns.set(container, { atMs: this.#parts.clock.nowMs(), quickLosses })
  }

  /** An agent that comes back and goes again, time after time, is no agent: to seek it for ever would cost others. */
  #isFickle(container: RunningContainer): boolean {
    const last = this.#returns.get(container)
    if (!last) return false
    const isQuick = this.#parts.clock.nowMs() - last.atMs < STEADY_MS
    const quickLosses = isQuick ? last.quickLosses + 1 : 0
    this.#returns.set(container, { ...last, quickLosses })
    return quickLosses > MAX_QUICK_LOSSES
  }
}
