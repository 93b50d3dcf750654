import { constants } from 'node:os'
import type { DeathCause } from '@svc/protocol/lifecycle'
import type { ContainerState } from '../../engine/container-engine.ts'
import { sizeText } from './size-text.ts'

export interface Death {
  readonly cause: DeathCause
  /** A sentence for the people in the workspace. */
  readonly message: string
}

/** A shell's way to say that a signal ended a program. */
const SIGNAL_BASE = 128
/** An agent ends cleanly when it is asked to, and never by itself. */
const TOLD_TO_END: readonly number[] = [
  0,
  SIGNAL_BASE + constants.signals.SIGKILL,
  SIGNAL_BASE + constants.signals.SIGTERM,
]

/** Why a container is not running, as its last state tells; undefined is one the engine no longer knows. */
export function classifyDeath(state: ContainerState | undefined, memoryLimitBytes: number | undefined): Death {
  if (!state) return { cause: 'removed', message: 'The container was removed by somebody else' }
  const { exitCode } = state
  if (state.outOfMemory) {
    const limit = memoryLimitBytes === undefined ? '' : ` (limit ${sizeText(memoryLimitBytes)})`
    const code = exitCode === undefined ? '' : `, exit code ${exitCode}`
    return { cause: 'oom', message: `The container ran out of memory${limit}${code}` }
  }
  return { cause: 'exited', message: exitMessage(exitCode) }
}

/** Ended as one does that was told to from outside, or in a way nobody saw. */
export const wasToldToEnd = ({ running, exitCode, outOfMemory }: ContainerState): boolean =>
  !running && !outOfMemory && (exitCode === undefined || TOLD_TO_END.includes(exitCode))

/** The container runs, and nothing in it answers. */
export const AGENT_LOST: Death = { cause: 'exited', message: 'The agent in the container was lost' }

function exitMessage(exitCode: number | undefined): string {
  if (exitCode === undefined) return 'The container ended; its exit code is unknown'
  if (exitCode === 0) return 'The container ended cleanly (exit code 0)'
  const signal = exitCode > SIGNAL_BASE ? signalName(exitCode - SIGNAL_BASE) : undefined
  return `The container ended with exit code ${exitCode}${signal ? ` (${signal})` : ''}`
}

const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
