import type { Socket } from 'node:net'
import type { Clock } from '../../kernel/clock.ts'
import { pause } from '../../kernel/pause.ts'
import { type ContainerId, EngineError } from '../container-engine.ts'
import type { ContainersApi } from './containers-api.ts'
import type { EngineEvents } from './engine-events.ts'

/** An agent needs some tens of milliseconds to come up; a try costs a small part of one. */
const FIRST_DELAY_MS = 1
const SLOWEST_DELAY_MS = 4

/** A program that is not there or cannot be run, as shells and init programs say it. */
const NOT_EXECUTABLE: readonly (number | undefined)[] = [126, 127]
/** The words of the dynamic linker, and of the engines' init programs. */
const CANNOT_RUN =
  /error while loading shared libraries|version `(GLIBC|GLIBCXX|CXXABI)|symbol lookup error|failed to exec pid1|exec \S+ failed/

interface Parts {
  readonly id: ContainerId
  readonly containers: ContainersApi
  readonly events: EngineEvents
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Undefined while no agent listens. */
  readonly connect: () => Promise<Socket | undefined>
}

/** A connection to the agent, as soon as there is one; an error, as soon as there cannot be one any more. */
export async function waitForAgent({ id, containers, events, clock, signal, connect }: Parts): Promise<Socket> {
  const death = new AbortController()
  const check = async () => {
    if (!(await containers.inspect(id))?.running) death.abort()
  }
  const unsubscribe = events.subscribe({
    died: (dead) => dead.id === id && death.abort(),
    gap: () => void check().catch(() => undefined), // the next gap, or the caller's patience, ends the wait then
  })
  const woken = AbortSignal.any([signal, death.signal])
  try {
    for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, SLOWEST_DELAY_MS)) {
      signal.throwIfAborted()
      const socket = await connect()
      if (socket) return socket
      if (death.signal.aborted) throw await whyItDied(id, containers)
      // It may have died before we listened for that.
      if (delayMs === FIRST_DELAY_MS) await check()
      await pause(clock, delayMs, woken)
    }
  } finally {
    unsubscribe()
  }
}

async function whyItDied(id: ContainerId, containers: ContainersApi): Promise<EngineError> {
  const state = await containers.inspect(id)
  if (!state) return new EngineError('not_running', 'the container was removed before its agent answered')
  const words = await containers.lastWords(id).catch(() => '')
  if (NOT_EXECUTABLE.includes(state.exitCode) || CANNOT_RUN.test(words)) {
    return new EngineError(
      'unusable_image',
      'the image cannot run the workspace agent: it needs the GNU C library and libstdc++, as images of Debian, Ubuntu and Fedora have them',
      { cause: new Error(words) },
    )
  }
  const ending = state.exitCode === undefined ? 'was never started' : `ended with exit code ${state.exitCode}`
  return new EngineError('not_running', `the container ${ending} before its agent answered`, {
    cause: new Error(words),
  })
}
