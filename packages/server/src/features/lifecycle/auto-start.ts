import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import { pause } from '../../kernel/pause.ts'
import type { Workspaces } from '../workspaces/workspaces.ts'

/** Between two starts, so that a server with many workspaces comes up gently. */
const SHORTEST_GAP_MS = 500
const LONGEST_GAP_MS = 2_000

interface AutoStartParts {
  readonly workspaces: Pick<Workspaces, 'toAutoStart'>
  readonly isAllowed: () => boolean
  readonly start: (workspaceId: string) => Promise<unknown>
  readonly clock: Clock
  readonly log: Logger
  /** From 0 to 1. */
  readonly random: () => number
}

/** Starts the workspaces that come up with the server, one after the other. One that fails holds up no other. */
export async function autoStart(parts: AutoStartParts, signal: AbortSignal): Promise<void> {
  const { workspaces, isAllowed, start, clock, log, random } = parts
  if (!isAllowed()) return
  for (const { id } of await workspaces.toAutoStart()) {
    if (signal.aborted) return
    await start(id).catch((error: unknown) =>
      log.warning('a workspace could not be started with the server', { workspace: id, error }),
    )
    await pause(clock, SHORTEST_GAP_MS + random() * (LONGEST_GAP_MS - SHORTEST_GAP_MS), signal)
  }
}
