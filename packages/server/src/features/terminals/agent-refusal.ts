import { AgentError, AgentLost } from '../../agent/agent-error.ts'
import { FrameError } from '../../kernel/frame-error.ts'

/** What the agent could not do, as the person who asked for it is told. Other faults are ours. */
export function agentRefusal(error: unknown): unknown {
  if (error instanceof AgentLost) {
    return new FrameError('container_gone', 'The workspace does not answer: open it again', { cause: error })
  }
  if (!(error instanceof AgentError)) return error
  if (error.code === 'too_many') {
    return new FrameError('conflict', 'There are too many terminals in this workspace: close one first', {
      cause: error,
    })
  }
  if (isGone(error)) return new FrameError('invalid', 'This window is no longer open', { cause: error })
  return error
}

/** The shell of the terminal has ended. */
export const isGone = (error: unknown): boolean => error instanceof AgentError && error.code === 'not_found'
