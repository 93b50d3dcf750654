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
      await this.#seekUntil(container, late.signal)
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
}
